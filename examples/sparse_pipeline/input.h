/* SPDX-License-Identifier: MIT */
/* What the three kinds of input have in common. */
#ifndef EXAMPLE_INPUT_H
#define EXAMPLE_INPUT_H

#include "job.h"

/* End the program if a matrix would take more memory than the limit. */
void input_allow(const char *what, double rows, double cols, double entries, double limit);
/* The limit of --max-memory, otherwise one by the size of the file. */
void input_allow_file(const struct options *o, const char *name, double rows, double cols,
                      double entries, size_t file_bytes);

/* The first lines of the output: only now, when the input is good, anything is printed. */
void input_title(struct job *j, const char *what, size_t rows, size_t cols, size_t entries);

#endif
