/* SPDX-License-Identifier: MIT */
#include "gp_test.h"

START_TEST(test_version_matches_header)
{
    ck_assert_int_eq(gp_version(), GP_VERSION);
}
END_TEST

START_TEST(test_copy_roundtrip)
{
    char in[100] = "hello", out[100];
    t_array a = t_new_from(in, sizeof in, 3);
    t_get(&a, out, sizeof out);
    t_same_bytes("copy", in, out, sizeof in);
    t_check_guards(&a);
    t_free(&a);
}
END_TEST

static Suite *suite(void)
{
    Suite *s = suite_create("core");
    TCase *c = t_case(s, "values");
    tcase_add_test(c, test_version_matches_header);
    tcase_add_test(c, test_copy_roundtrip);
    return s;
}

int main(int argc, char **argv)
{
    return t_main(argc, argv, suite());
}
