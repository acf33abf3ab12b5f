/* SPDX-License-Identifier: MIT */
/*
 * How libgp finds libgp_cub, without a GPU: this program has the code that looks for it.
 *
 *     cub_loader found|PART OF THE REASON WHY NOT
 *
 * Several threads ask at the same time; all of them get the same answer.
 */
#include <pthread.h>
#include <stdio.h>
#include <string.h>

#include "support/cub_table.h"

enum { THREADS = 8 };

static void *ask(void *answer)
{
    *(struct cub_answer *)answer = cub_answer();
    return NULL;
}

int main(int argc, char **argv)
{
    pthread_t thread[THREADS];
    struct cub_answer answer[THREADS];
    if (argc != 2)
        return 2;
    const bool wanted = strcmp(argv[1], "found") == 0;
    for (int i = 0; i < THREADS; i++)
        if (pthread_create(&thread[i], NULL, ask, &answer[i]))
            return 2;
    for (int i = 0; i < THREADS; i++)
        pthread_join(thread[i], NULL);
    for (int i = 0; i < THREADS; i++) {
        const bool same = answer[i].table == answer[0].table && answer[i].why == answer[0].why;
        if (!same || answer[i].complete != wanted || (!wanted && !strstr(answer[i].why, argv[1]))) {
            printf("expected %s: table %p, %scomplete, \"%s\"\n", argv[1], answer[i].table,
                   answer[i].complete ? "" : "not ", answer[i].why);
            return 1;
        }
    }
    return 0;
}
