/* SPDX-License-Identifier: MIT */
#include "mm_reader.h"

#include "decimal.h"
#include "text.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

bool mm_fail(struct mm_reader *r, const char *format, ...)
{
    va_list list;
    char name[MM_NAME_BYTES];
    mm_printable(text_name(r->path), name);
    int used = r->line ? snprintf(r->message, MM_MESSAGE_BYTES, "%s:%zu: ", name, r->line)
                       : snprintf(r->message, MM_MESSAGE_BYTES, "%s: ", name);
    va_start(list, format);
    vsnprintf(r->message + used, (size_t)(MM_MESSAGE_BYTES - used), format, list);
    va_end(list);
    return false;
}

/* ---- characters and words -------------------------------------------------------------------- */

void mm_skip_blanks(struct mm_reader *r)
{
    while (r->at < r->end && mm_is_blank(*r->at))
        r->at++;
}

bool mm_at_line_end(const struct mm_reader *r)
{
    return r->at == r->end || *r->at == '\n';
}

const char *mm_shown_word(const struct mm_reader *r, const char *from, char word[MM_WORD_BYTES])
{
    int n = 0;
    const char *p = from;
    for (; p < r->end && !mm_is_blank(*p) && *p != '\n' && n < MM_WORD_SHOWN; p++)
        word[n++] = *p >= ' ' && *p <= '~' ? *p : '?';
    if (n == MM_WORD_SHOWN && p < r->end && !mm_is_blank(*p) && *p != '\n') {
        memcpy(word + n, "...", 4);
        return word;
    }
    word[n] = 0;
    return word;
}

bool mm_next_line(struct mm_reader *r)
{
    for (;;) {
        mm_skip_blanks(r);
        if (r->at == r->end)
            return false;
        if (*r->at != '\n' && *r->at != '%')
            return true;
        while (!mm_at_line_end(r))
            r->at++;
        if (r->at < r->end) {
            r->at++;
            r->line++;
        }
    }
}

bool mm_expect_line_end(struct mm_reader *r, const char *after)
{
    char word[MM_WORD_BYTES];
    mm_skip_blanks(r);
    if (!mm_at_line_end(r))
        return mm_fail(r, "\"%s\" after %s, expected the end of the line",
                       mm_shown_word(r, r->at, word), after);
    if (r->at < r->end) {
        r->at++;
        r->line++;
    }
    return true;
}

/* ---- numbers --------------------------------------------------------------------------------- */

bool mm_read_count(struct mm_reader *r, const char *what, uint64_t low, uint64_t high,
                   uint64_t *value)
{
    char word[MM_WORD_BYTES];
    uint64_t v = 0;
    bool too_large = false;
    mm_skip_blanks(r);
    if (mm_at_line_end(r))
        return mm_fail(r, "the line ends where the %s should be", what);
    const char *start = r->at;
    for (; r->at < r->end && mm_is_digit(*r->at); r->at++) {
        unsigned digit = (unsigned)(*r->at - '0');
        too_large |= v > (UINT64_MAX - digit) / 10;
        v = v * 10 + digit;
    }
    if (r->at == start || (!mm_at_line_end(r) && !mm_is_blank(*r->at)))
        return mm_fail(r, "the %s is \"%s\", expected a whole number", what,
                       mm_shown_word(r, start, word));
    if (too_large || v < low || v > high)
        return mm_fail(r, "the %s is %s, expected %llu to %llu", what,
                       mm_shown_word(r, start, word), (unsigned long long)low,
                       (unsigned long long)high);
    *value = v;
    return true;
}

bool mm_read_value(struct mm_reader *r, double *value)
{
    char word[MM_WORD_BYTES];
    struct decimal d;
    mm_skip_blanks(r);
    if (mm_at_line_end(r))
        return mm_fail(r, "the line ends where the value should be");
    const char *start = r->at, *behind = decimal_scan(start, &d);
    bool ends = behind && (behind == r->end || mm_is_blank(*behind) || *behind == '\n');
    if (!ends || (r->field == MM_INTEGER && !d.whole))
        return mm_fail(r, "the value is \"%s\", expected %s", mm_shown_word(r, start, word),
                       r->field == MM_INTEGER ? "a whole number" : "a number");
    *value = decimal_value(&d, r->c_locale);
    if (!isfinite(*value))
        return mm_fail(r, "the value is %s, which does not fit a double",
                       mm_shown_word(r, start, word));
    r->at = behind;
    return true;
}
