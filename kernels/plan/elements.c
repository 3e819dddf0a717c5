/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * The tensor's element types: size, limits, and the bits that a normalised
 * value becomes. output.c makes the padding with them and reference/kernel_c.c
 * the pixels. The CPU's and the GPU's kernels spell the same conversions on
 * their own: cpu/elements_cpu.c, cuda/pixel_cuda.cuh.
 */
#include <math.h>
#include <string.h>

#include "kernels/table.h"
#include "parts.h"

uint16_t
pp_float16 (float value)
{
  uint32_t bits, small_bits;
  float small;

  memcpy (&bits, &value, sizeof bits);

  const uint32_t sign = bits >> 16 & 0x8000;
  const uint32_t magnitude = bits & 0x7fffffff;
  /* Values from 2^-14 on. The exponent's bias goes from 127 to 15, and 13 bits
   * of the fraction are rounded off. The carry may run into the exponent; from
   * 65520 on that gives infinity. */
  const uint32_t normal =
      (magnitude - (112u << 23) + 0xfff + (magnitude >> 13 & 1)) >> 13;

  /* Values below 2^-14 are multiples of 2^-24 in float16. Floats from 0.5 to 1
   * are multiples of 2^-24, too: adding 0.5 rounds. */
  memcpy (&small, &magnitude, sizeof small);
  small += 0.5f;
  memcpy (&small_bits, &small, sizeof small_bits);

  const uint32_t finite =
      magnitude < 113u << 23 ? small_bits - 0x3f000000 : normal;
  const uint32_t special = magnitude > 0x7f800000 ? 0x7e00 : 0x7c00;

  return (uint16_t) (sign | (magnitude < 143u << 23 ? finite : special));
}

static uint32_t
float32_bits (const pp_numbers *numbers, float value)
{
  uint32_t bits;

  (void) numbers;
  memcpy (&bits, &value, sizeof bits);
  return bits;
}

static uint32_t
float16_bits (const pp_numbers *numbers, float value)
{
  (void) numbers;
  return pp_float16 (value);
}

/* rintf: half to even. */
static uint32_t
integer_bits (const pp_numbers *numbers, float value)
{
  value = value > numbers->lo ? value : numbers->lo;
  value = value < numbers->hi ? value : numbers->hi;
  return (uint8_t) ((int) rintf (value) + numbers->zero_point);
}

static const struct {
  size_t size; /* bytes */
  uint32_t (*bits) (const pp_numbers *numbers, float value);
  bool integer;
  int low, high; /* of an integer type */
} types[] = {
  [PP_TYPE_FLOAT32] = { 4, float32_bits, false, 0, 0 },
  [PP_TYPE_FLOAT16] = { 2, float16_bits, false, 0, 0 },
  [PP_TYPE_UINT8] = { 1, integer_bits, true, 0, UINT8_MAX },
  [PP_TYPE_INT8] = { 1, integer_bits, true, INT8_MIN, INT8_MAX },
};
PP_CHECK_TABLE (types, PP_N_TYPES);

size_t
pp_type_size (pp_type type)
{
  return types[type].size;
}

bool
pp_type_limits (pp_type type, int *low, int *high)
{
  *low = types[type].low;
  *high = types[type].high;
  return types[type].integer;
}

uint32_t
pp_element_bits (const pp_numbers *numbers, float value)
{
  return types[numbers->type].bits (numbers, value);
}
