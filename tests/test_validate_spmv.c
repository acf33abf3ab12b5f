/* SPDX-License-Identifier: MIT */
/* What a context that validates finds in the matrix of a product, and which finding it tells. */
#include "csr_cases.h"

/* ---- what leads gp_spmv() astray without validate -------------------------------------------- */

START_TEST(test_spmv_of_what_would_lead_it_astray)
{
    uint64_t far[] = {0, 1 << 30, 2, 4}, falling[] = {0, 3, 1, 4}, good[] = {0, 1, 2, 4};
    uint64_t cols[] = {0, 1, 2, 3}, wild[] = {0, 1, 1 << 30, 3};
    const float ones[] = {1, 1, 1, 1};
    const gp_dtype *pair = pairs[_i];
    static const char *const texts[] = {
        "gp_spmv: row_pointers[2] is 2, below the 1073741824 before it",
        "gp_spmv: row_pointers[2] is 1, below the 3 before it",
        "gp_spmv: cols[2] is 1073741824, expected below 4",
        "gp_spmv: row_pointers[3] is 4, expected 3"};
    gp_context *v = t_validating();
    t_array values = t_new_from(ones, sizeof ones, 0), y = t_new(12, 0);
    for (int k = 0; k < 4; k++) {
        t_array p = index_array(k == 0 ? far : k == 1 ? falling : good, 4, pair[1], 0);
        t_array c = index_array(k == 2 ? wild : cols, 4, pair[0], 0);
        T_OK(gp_context_synchronize(t_ctx()));
        t_refused(v,
                  gp_spmv(v, pair[0], pair[1], GP_F32, 3, 4, k == 3 ? 3 : 4, p.data, c.data,
                          values.data, NULL, values.data, NULL, y.data),
                  texts[k]);
        t_check_untouched(&y);
        t_free(&p);
        t_free(&c);
    }
    t_free(&values);
    t_free(&y);
    gp_context_destroy(v);
}
END_TEST

/* Of two arrays that are wrong the smaller index is reported. */
/* As on the host, where the call ends before it reads anything. */
START_TEST(test_spmv_of_no_rows_by_a_number_in_memory)
{
    const uint64_t none = 0, pointers[] = {0, 1, 2, 4}, cols[] = {0, 1, 2, 3};
    const float ones[] = {1, 1, 1, 1};
    const gp_dtype *pair = pairs[_i];
    gp_context *v = t_validating();
    gp_csr_desc d = GP_CSR_DESC_INIT;
    t_array rows = t_new_from(&none, sizeof none, 0), y = t_new(12, 0);
    t_array p = index_array(pointers, 4, pair[1], 0), c = index_array(cols, 4, pair[0], 0);
    t_array x = t_new_from(ones, sizeof ones, 0);
    d.index_dtype = pair[0];
    d.offset_dtype = pair[1];
    d.value_dtype = GP_F32;
    d.device_num_rows = rows.data;
    T_OK(gp_context_synchronize(t_ctx()));
    T_OK(gp_spmv_by(v, &d, 3, 4, 4, p.data, c.data, x.data, NULL, x.data, NULL, y.data));
    T_OK(gp_context_synchronize(v));
    t_check_untouched(&y);
    t_free(&rows);
    t_free(&p);
    t_free(&c);
    t_free(&x);
    t_free(&y);
    gp_context_destroy(v);
}
END_TEST

START_TEST(test_the_smallest_index_is_told)
{
    uint64_t falling[] = {0, 1, 3, 2}, cols[] = {0, 9, 0}, wrong_late[] = {0, 0, 0, 0, 0, 9};
    const float ones[] = {1, 1, 1, 1, 1, 1};
    gp_context *v = t_validating();
    t_array values = t_new_from(ones, sizeof ones, 0), y = t_new(12, 0);
    t_array p = index_array(falling, 4, GP_U32, 0), c = index_array(cols, 3, GP_U32, 0);
    t_array late = index_array(wrong_late, 6, GP_U32, 0);
    T_OK(gp_context_synchronize(t_ctx()));
    t_refused(v,
              gp_spmv(v, GP_U32, GP_U32, GP_F32, 3, 4, 3, p.data, c.data, values.data, NULL,
                      values.data, NULL, y.data),
              "gp_spmv: cols[1] is 9, expected below 4");
    t_refused(v,
              gp_spmv(v, GP_U32, GP_U32, GP_F32, 3, 4, 6, p.data, late.data, values.data, NULL,
                      values.data, NULL, y.data),
              "gp_spmv: row_pointers[3] is 2, below the 3 before it");
    t_check_untouched(&y);
    t_array *all[] = {&values, &y, &p, &c, &late};
    for (int i = 0; i < 5; i++)
        t_free(all[i]);
    gp_context_destroy(v);
}
END_TEST

static Suite *suite(void)
{
    Suite *s = suite_create("validate_spmv");
    TCase *c = t_case(s, "rules");
    tcase_add_loop_test(c, test_spmv_of_what_would_lead_it_astray, 0, PAIRS);
    tcase_add_loop_test(c, test_spmv_of_no_rows_by_a_number_in_memory, 0, PAIRS);
    tcase_add_test(c, test_the_smallest_index_is_told);
    return s;
}

int main(int argc, char **argv)
{
    return t_main(argc, argv, suite());
}
