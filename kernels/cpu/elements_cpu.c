/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * The last step of a row: normalised values become elements of the tensor's
 * type. A loop for each kind of type, and the table that finds it.
 */
#include "elements_cpu.h"

#include <string.h>

#include "clones_cpu.h"
#include "kernels/table.h"

PP_INLINE float
clamp (float value, float low, float high)
{
  value = value > low ? value : low;
  return value < high ? value : high;
}

/* float32 to float16: rounded half to even, overflow is infinity. As
 * pp_float16, but without NaN, which does not occur, and without a branch. */
PP_INLINE uint16_t
half_bits (float value)
{
  uint32_t bits, sum_bits;
  memcpy (&bits, &value, sizeof bits);
  const uint32_t sign = bits >> 16 & 0x8000;
  const uint32_t magnitude = bits & 0x7fffffff;
  /* The exponent's bias goes from 127 to 15. 13 bits are dropped: they round up
   * if they are more than half, or half and the last bit kept is odd. */
  const uint32_t normal =
      (magnitude - (112u << 23) + 0xfff + (magnitude >> 13 & 1)) >> 13;
  /* float16 values below 2^-14 are multiples of 2^-24, and so are floats from
   * 1/2 to 1: the addition rounds. */
  float sum;
  memcpy (&sum, &magnitude, sizeof sum);
  sum = sum + 0.5f;
  memcpy (&sum_bits, &sum, sizeof sum_bits);
  const uint32_t subnormal = sum_bits - 0x3f000000;
  uint32_t half = magnitude < 113u << 23 ? subnormal : normal;
  half = magnitude < 143u << 23 ? half : 0x7c00; /* 2^16 and more */
  return (uint16_t) (sign | half);
}

PP_CLONES static void
store_float32 (void *elements, const float *restrict colour,
    const pp_scaling *scaling, int n)
{
  float *restrict element = elements;
  const float mul = scaling->mul, add = scaling->add;
  for (int x = 0; x < n; x++)
    element[x] = colour[x] * mul + add;
}

PP_CLONES static void
store_float16 (void *elements, const float *restrict colour,
    const pp_scaling *scaling, int n)
{
  uint16_t *restrict element = elements;
  const float mul = scaling->mul, add = scaling->add;
  for (int x = 0; x < n; x++)
    element[x] = half_bits (colour[x] * mul + add);
}

/* For uint8 and int8: the low byte is the same. */
PP_CLONES static void
store_integer (void *elements, const float *restrict colour,
    const pp_scaling *scaling, int n)
{
  uint8_t *restrict element = elements;
  const float mul = scaling->mul, add = scaling->add;
  /* Floats from 2^23 to 2^24 are integers. Adding magic, 1.5 * 2^23, to a value
   * within +-2^22 rounds it half to even. The sum's bits are then those of
   * magic, 0x4b400000, plus the integer. */
  const float magic = 12582912.f;
  const uint32_t offset = (uint32_t) scaling->zero_point - 0x4b400000u;
  const float lo = scaling->lo, hi = scaling->hi;
  for (int x = 0; x < n; x++) {
    const float sum = clamp (colour[x] * mul + add, lo, hi) + magic;
    uint32_t bits;
    memcpy (&bits, &sum, sizeof bits);
    element[x] = (uint8_t) (bits + offset);
  }
}

static const pp_store_cpu stores[] = {
  [PP_TYPE_FLOAT32] = store_float32,
  [PP_TYPE_FLOAT16] = store_float16,
  [PP_TYPE_UINT8] = store_integer,
  [PP_TYPE_INT8] = store_integer,
};
PP_CHECK_TABLE (stores, PP_N_TYPES);

pp_store_cpu
pp_find_store_cpu (pp_type type)
{
  return stores[type];
}
