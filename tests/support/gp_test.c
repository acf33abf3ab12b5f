/* SPDX-License-Identifier: MIT */
/* Running, statuses and arrays. */
#include "gp_test.h"

#include "cli.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { CASES_MAX = 64, TAGS_MAX = 4096 };

static char case_tags[CASES_MAX][64];
static int case_count;
static gp_backend run_backend = GP_BACKEND_CPU;
static gp_context *run_ctx;

#if defined(__SANITIZE_ADDRESS__)
/* Tests ask for more memory than there is. */
const char *__asan_default_options(void);
const char *__asan_default_options(void)
{
    return "allocator_may_return_null=1";
}
#endif

/* ---- running --------------------------------------------------------------------------------- */

TCase *t_case(Suite *suite, const char *name)
{
    TCase *c = tcase_create(name);
    if (case_count < CASES_MAX) {
        char *tag = case_tags[case_count++];
        snprintf(tag, sizeof case_tags[0], "%s", name);
        for (char *p = tag; *p; p++)
            if (*p == ' ')
                *p = '_'; /* Check separates tags by spaces */
        tcase_set_tags(c, tag);
    }
    tcase_set_timeout(c, 0);
    suite_add_tcase(suite, c);
    return c;
}

/* Where part 0, 1, .. of the rounds begins that the environment asks for. */
static int part_at(int begin, int end, int next)
{
    int part = 1, parts = 1;
    const char *text = getenv("GP_TEST_PART");
    if (text && (sscanf(text, "%d/%d", &part, &parts) != 2 || part < 1 || part > parts)) {
        fprintf(stderr, "GP_TEST_PART is %s, expected 1/2, 2/2 or the like\n", text);
        exit(2);
    }
    return begin + (int)((long)(end - begin) * (part - 1 + next) / parts);
}

int t_part_begin(int begin, int end)
{
    return part_at(begin, end, 0);
}

int t_part_end(int begin, int end)
{
    return part_at(begin, end, 1);
}

static gp_status context_new(gp_context **ctx)
{
    gp_context_options o = GP_CONTEXT_OPTIONS_INIT;
    long cores = sysconf(_SC_NPROCESSORS_ONLN);
    o.backend = run_backend;
    if (run_backend == GP_BACKEND_CPU)
        o.threads = cores > 2 ? (int)cores : 2;
    return gp_context_create(ctx, &o);
}

gp_context *t_ctx(void)
{
    if (!run_ctx && context_new(&run_ctx) != GP_OK)
        ck_abort_msg("no context: %s", gp_last_error(NULL));
    return run_ctx;
}

gp_context *t_context_with(int multiprocessors)
{
    gp_context_options o = GP_CONTEXT_OPTIONS_INIT;
    gp_context *ctx;
    o.backend = run_backend;
    o.multiprocessors = multiprocessors;
    T_OK(gp_context_create(&ctx, &o));
    return ctx;
}

bool t_is_cuda(void)
{
    return run_backend == GP_BACKEND_CUDA;
}

bool t_has_cub(void)
{
    return T_CUB && t_is_cuda();
}

void t_ctx_drop(void)
{
    gp_context_destroy(run_ctx);
    run_ctx = NULL;
}

gp_context *t_validating(void)
{
    gp_context_options o = GP_CONTEXT_OPTIONS_INIT;
    gp_context *ctx = NULL;
    o.backend = gp_context_backend(t_ctx());
    o.validate = 1;
    T_OK(gp_context_create(&ctx, &o));
    return ctx;
}

/* 0, or the exit code that says why not. */
static int cuda_usable(void)
{
    const char *require = getenv("GP_REQUIRE_CUDA");
    gp_status s = context_new(&run_ctx);
    if (s == GP_OK)
        return 0;
    printf("no CUDA context: %s\n", gp_last_error(NULL));
    if (s != GP_ERROR_DEVICE && s != GP_ERROR_UNSUPPORTED)
        return 1;
    return require && strcmp(require, "1") == 0 ? 1 : 77;
}

/* Tags of the cases whose name contains part; false if there is none. */
static bool tags_matching(const char *part, char tags[TAGS_MAX])
{
    size_t used = 0;
    tags[0] = '\0';
    for (int i = 0; i < case_count; i++)
        if (strstr(case_tags[i], part) && used + sizeof case_tags[0] + 2 < TAGS_MAX)
            used += (size_t)snprintf(tags + used, TAGS_MAX - used, "%s ", case_tags[i]);
    return used > 0;
}

/* wanted: the tags to run; NULL: all but the large cases, and on the CPU those for CUDA. */
static int run(Suite *suite, const char *wanted)
{
    char large[TAGS_MAX], cuda[TAGS_MAX], left_out[2 * TAGS_MAX];
    SRunner *runner = srunner_create(suite);
    /* A CUDA context does not survive fork(); on the CPU not to fork is faster. */
    if (t_is_cuda() || !getenv("CK_FORK"))
        srunner_set_fork_status(runner, CK_NOFORK);
    t_tell_crashes();
    tags_matching("large", large);
    tags_matching("cuda", cuda);
    snprintf(left_out, sizeof left_out, "%s%s", large, t_is_cuda() ? "" : cuda);
    srunner_run_tagged(runner, NULL, NULL, wanted, wanted || !*left_out ? NULL : left_out, CK_ENV);
    int failed = srunner_ntests_failed(runner);
    srunner_free(runner);
    return failed ? 1 : 0;
}

static const struct option options[] = {CLI_OPTIONS, {0}};

/* Wrong arguments end the program. */
static void parse(int argc, char **argv, const char **backend, const char **part)
{
    static char usage[512];
    const char *slash = strrchr(argv[0], '/'), *name = slash ? slash + 1 : argv[0];
    const struct cli cli = {name, usage, options};
    snprintf(
        usage, sizeof usage,
        "usage: %s [cpu|cuda [PART]]\n\n"
        "Runs the test cases on a backend (cpu), or those alone that have PART in their names.\n"
        "Exit status 77: there is no GPU.\n\n"
        "  --help      this text\n"
        "  --version   the version of gp\n",
        name);
    cli_begin(&cli);
    cli_next(&cli, argc, argv);
    *backend = optind < argc ? argv[optind++] : "cpu";
    *part = optind < argc ? argv[optind++] : NULL;
    if (strcmp(*backend, "cpu") != 0 && strcmp(*backend, "cuda") != 0)
        cli_wrong(&cli, "the backend is \"%s\", expected cpu or cuda", *backend);
    if (optind < argc)
        cli_wrong(&cli, "unexpected argument \"%s\"", argv[optind]);
}

int t_main(int argc, char **argv, Suite *suite)
{
    char wanted[TAGS_MAX];
    const char *backend, *part;
    int code = 0;
    parse(argc, argv, &backend, &part);
    if (part && !tags_matching(part, wanted)) {
        fprintf(stderr, "%s: no test case has \"%s\" in its name\n", argv[0], part);
        return 2;
    }
    run_backend = strcmp(backend, "cuda") == 0 ? GP_BACKEND_CUDA : GP_BACKEND_CPU;
    if (t_is_cuda())
        code = cuda_usable();
    if (code == 0)
        code = run(suite, part ? wanted : NULL);
    t_ctx_drop();
    return code;
}

/* ---- statuses -------------------------------------------------------------------------------- */

/* A text stays until the next error: old ones give way to those of errors that no test makes. */
void t_error_clear(void)
{
    gp_context_options none = GP_CONTEXT_OPTIONS_INIT;
    gp_context *ctx;
    none.size = 12345;
    gp_context_create(&ctx, &none);
    if (run_ctx)
        gp_free(run_ctx, &run_ctx);
}

/* Whether neither text is new since t_error_clear(). */
static bool errors_are_old(const char *of_ctx, const char *of_thread)
{
    char freed[80];
    snprintf(freed, sizeof freed, "gp_free: memory is %p,", (void *)&run_ctx);
    return (!*of_ctx || strncmp(of_ctx, freed, strlen(freed)) == 0) && strstr(of_thread, "12345");
}

void t_status_at(const char *file, int line, const char *expression, gp_status expected,
                 gp_status actual)
{
    const char *of_ctx = run_ctx ? gp_last_error(run_ctx) : "", *of_thread = gp_last_error(NULL);
    if (actual != expected) {
        if (actual == GP_ERROR_CUDA && t_is_cuda()) {
            printf("%s:%d: %s: %s\nCUDA is not usable any more: stopping\n", file, line, expression,
                   of_ctx);
            fflush(stdout);
            _exit(1);
        }
        ck_abort_msg("%s:%d: %s\n    is %d (%s), expected %d (%s)\n    context: \"%s\"\n"
                     "    thread: \"%s\"",
                     file, line, expression, (int)actual, gp_status_string(actual), (int)expected,
                     gp_status_string(expected), of_ctx, of_thread);
    }
    if (expected != GP_OK && errors_are_old(of_ctx, of_thread))
        ck_abort_msg("%s:%d: %s: status %d without an error text", file, line, expression,
                     (int)actual);
    t_held(file, line);
}

void t_refused(gp_context *ctx, gp_status of_call, const char *text)
{
    ck_assert_msg(of_call == (t_is_cuda() ? GP_OK : GP_ERROR_DATA), "status %d of \"%s\": \"%s\"",
                  (int)of_call, text, gp_last_error(ctx));
    if (t_is_cuda())
        ck_assert_msg(gp_context_synchronize(ctx) == GP_ERROR_DATA, "not found: \"%s\"", text);
    ck_assert_str_eq(gp_last_error(ctx), text);
    ck_assert_int_eq(gp_context_synchronize(ctx), GP_OK); /* reported once */
}

/* ---- arrays ---------------------------------------------------------------------------------- */

void *t_host(size_t bytes)
{
    void *memory = malloc(bytes ? bytes : 1);
    if (!memory)
        ck_abort_msg("out of host memory: %zu bytes", bytes);
    return memory;
}

static void copy(const void *source, size_t bytes, void *destination)
{
    T_OK(gp_copy(t_ctx(), source, bytes, destination));
    T_OK(gp_context_synchronize(t_ctx()));
}

void t_poison(t_array *array)
{
    enum { CHUNK = 16 << 20 };
    size_t chunk = array->block_bytes < CHUNK ? array->block_bytes : CHUNK;
    char *poison = t_host(chunk);
    memset(poison, T_POISON, chunk);
    for (size_t at = 0; at < array->block_bytes; at += chunk) {
        size_t left = array->block_bytes - at;
        T_OK(gp_copy(t_ctx(), poison, left < chunk ? left : chunk, (char *)array->block + at));
    }
    T_OK(gp_context_synchronize(t_ctx()));
    free(poison);
}

t_array t_new(size_t bytes, size_t offset)
{
    t_array a = {NULL, bytes, NULL, T_GUARD + offset + bytes + T_GUARD};
    T_OK(gp_malloc(t_ctx(), a.block_bytes, &a.block));
    a.data = (char *)a.block + T_GUARD + offset;
    t_poison(&a);
    return a;
}

t_array t_new_from(const void *host, size_t bytes, size_t offset)
{
    t_array a = t_new(bytes, offset);
    t_put(&a, host, bytes);
    return a;
}

void t_free(t_array *array)
{
    T_OK(gp_free(t_ctx(), array->block));
    *array = (t_array){NULL, 0, NULL, 0};
}

void t_put(t_array *array, const void *host, size_t bytes)
{
    ck_assert_uint_le(bytes, array->bytes);
    copy(host, bytes, array->data);
}

void t_get(const t_array *array, void *host, size_t bytes)
{
    ck_assert_uint_le(bytes, array->bytes);
    copy(array->data, bytes, host);
}

uint64_t t_get_u64(const t_array *array)
{
    uint64_t value;
    t_get(array, &value, sizeof value);
    return value;
}

/* Index of the first byte that is not poison; bytes if there is none. */
static size_t first_written(const void *memory, size_t bytes)
{
    unsigned char *host = t_host(bytes);
    size_t i = 0;
    copy(memory, bytes, host);
    while (i < bytes && host[i] == T_POISON)
        i++;
    free(host);
    return i;
}

void t_check_guards_at(const char *file, int line, const char *name, const t_array *array)
{
    char *end = (char *)array->data + array->bytes;
    size_t before = (size_t)((char *)array->data - (char *)array->block);
    size_t i = first_written(array->block, before);
    if (i < before)
        ck_abort_msg("%s:%d: %s: a byte before the array was written, %zu in front of it", file,
                     line, name, before - i);
    i = first_written(end, T_GUARD);
    if (i < T_GUARD)
        ck_abort_msg("%s:%d: %s: byte %zu after the end of %zu bytes was written", file, line, name,
                     i, array->bytes);
    t_held(file, line);
}

void t_check_untouched_at(const char *file, int line, const char *name, const t_array *array)
{
    size_t i = first_written(array->data, array->bytes);
    if (i < array->bytes)
        ck_abort_msg("%s:%d: %s: byte %zu of %zu was written", file, line, name, i, array->bytes);
    t_check_guards_at(file, line, name, array);
}
