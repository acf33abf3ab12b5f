/* SPDX-License-Identifier: MIT */
/* Other load: a process per processor that never sleeps. */
#include "calls.h"

#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

enum { BUSY_MAX = 1024 };

static pid_t children[BUSY_MAX];
static int num_children;

/* The child ends with its parent, however that ends. */
static void burn(pid_t parent)
{
    volatile unsigned long turns = 0;
    if (prctl(PR_SET_PDEATHSIG, SIGKILL) != 0 || getppid() != parent)
        _exit(1);
    for (;;)
        turns = turns + 1;
}

void call_busy_end(void)
{
    for (int i = 0; i < num_children; i++)
        kill(children[i], SIGKILL);
    for (int i = 0; i < num_children; i++)
        while (waitpid(children[i], NULL, 0) < 0 && errno == EINTR)
            ;
    num_children = 0;
}

void call_busy_begin(void)
{
    static bool registered;
    const pid_t self = getpid();
    const int wanted = bench_processors();
    if (!registered && atexit(call_busy_end) != 0) /* bench_die() exits */
        bench_die("atexit failed");
    registered = true;
    fflush(NULL);
    while (num_children < wanted && num_children < BUSY_MAX) {
        const pid_t child = fork();
        if (child < 0)
            bench_die("fork: %s", strerror(errno));
        if (child == 0)
            burn(self);
        children[num_children++] = child;
    }
}
