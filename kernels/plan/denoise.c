/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * The ways of denoising. A kernel is convolved into the tap tables by taps.c.
 * A median makes an image of its own, which the taps then read.
 */
#include "kernels/engine/backend.h"
#include "kernels/table.h"
#include "parts.h"

/* Sizes are odd numbers from 3 on; 0: denoised in the other way, or not. */
static const struct {
  int max_kernel, max_median; /* samples */
  const char *rule;           /* which sizes there are */
} denoises[] = {
  [PP_DENOISE_NONE] = { 0, 0, NULL },
  [PP_DENOISE_GAUSSIAN] = { 7, 0, "3, 5 or 7 with denoise=gaussian" },
  [PP_DENOISE_MEDIAN] = { 0, 5, "3 or 5 with denoise=median" },
};
PP_CHECK_TABLE (denoises, PP_N_DENOISES);

pp_status
pp_denoise_check (const pp_spec *spec, pp_error *error)
{
  const int size = spec->denoise_size;
  const int largest =
      denoises[spec->denoise].max_kernel + denoises[spec->denoise].max_median;

  if (largest == 0 || (size >= 3 && size <= largest && size % 2 == 1))
    return PP_OK;
  return pp_fail (error, PP_BAD_ARGUMENT, "denoise-size is %d, must be %s",
      size, denoises[spec->denoise].rule);
}

int
pp_denoise_kernel_size (const pp_spec *spec)
{
  return denoises[spec->denoise].max_kernel > 0 ? spec->denoise_size : 1;
}

int
pp_denoise_median_size (const pp_spec *spec)
{
  return denoises[spec->denoise].max_median > 0 ? spec->denoise_size : 0;
}
