/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * The engine's public interface: spec -> plan -> device -> submit -> job.
 *
 * Plain C11; neither GLib nor GStreamer. This is the only header of the engine
 * that gst/ includes.
 *
 * Conventions. A function that can fail returns a pp_status and, where error is
 * not NULL, fills it with a text that names what was wrong and the value it
 * had; on success error is left alone. Functions that destroy take the address
 * of the pointer, accept NULL and set it to NULL. Sizes are in bytes, times in
 * microseconds, pixel coordinates count from the top left corner, where sample
 * i covers [i, i + 1).
 */
#ifndef PP_PREPROC_H
#define PP_PREPROC_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#define PP_MAX_COMPONENTS 3
#define PP_MAX_PLANES 4
#define PP_MAX_CHANNELS 3
/* Largest width or height of a frame and of a tensor, in pixels. */
#define PP_MAX_SIZE 32768
/* Most streams and staging threads that a device can be opened with. */
#define PP_MAX_STREAMS 16
#define PP_MAX_STAGING_THREADS 16

typedef enum pp_status {
  PP_OK = 0,
  PP_BAD_ARGUMENT, /* a value the caller gave */
  PP_NO_DEVICE,    /* no driver, no such device, not built in */
  PP_NO_MEMORY,    /* host, pinned or device memory is exhausted */
  PP_DEVICE_FAILED /* a call on the device failed */
} pp_status;

/* An error is a value: it is copied, never freed. */
typedef struct pp_error {
  pp_status status;
  char text[240]; /* one line, NUL-terminated, no full stop */
} pp_error;

/* ---- what comes in: the image -------------------------------------------- */

typedef enum pp_model {
  PP_MODEL_RGB,  /* components R, G, B */
  PP_MODEL_YUV,  /* components Y, Cb, Cr */
  PP_MODEL_GRAY, /* component Y */
  PP_N_MODELS
} pp_model;

/* Where one component's samples are. A sample is format.sample_bytes wide and
 * holds the value (sample >> shift) & (2^depth - 1). Components have no bytes in
 * common, unless they are the same throughout. */
typedef struct pp_component {
  int plane;        /* index into pp_view */
  int offset;       /* bytes from the row's start to sample 0 */
  int pixel_stride; /* bytes from one sample to the next */
  int sub_x, sub_y; /* log2 of the subsampling, 0 to 2 */
  int depth;        /* significant bits, 1 to 16 */
  int shift;        /* bits below the value */
} pp_component;

/* A source format: data, never a name. */
typedef struct pp_format {
  pp_model model;
  int width, height; /* of the frame, pixels */
  int par_n, par_d;  /* pixel aspect ratio, both positive */
  int n_components;  /* 3, or 1 for PP_MODEL_GRAY */
  int sample_bytes;  /* 1 or 2 */
  bool big_endian;   /* byte order of 2-byte samples */
  pp_component component[PP_MAX_COMPONENTS];
  /* Colour: a component is (value - offset) / scale, which is 0...1, or
   * -0.5...0.5 for Cb and Cr (GStreamer's gst_video_color_range_offsets). */
  int offset[PP_MAX_COMPONENTS];
  int scale[PP_MAX_COMPONENTS];
  double kr, kb;             /* luma weights of the matrix, YUV only */
  bool cosited_x, cosited_y; /* chroma lies on luma samples on that axis */
} pp_format;

/* One frame's planes: the address of each plane's first row and the bytes from
 * one row to the next. Strides may be larger than the rows, never negative. */
typedef struct pp_view {
  const uint8_t *plane[PP_MAX_PLANES];
  size_t stride[PP_MAX_PLANES];
} pp_view;

typedef struct pp_rect {
  int x, y, width, height; /* pixels */
} pp_rect;

/* ---- what goes out: the tensor ------------------------------------------- */

typedef enum pp_fit {
  PP_FIT_STRETCH,
  PP_FIT_LETTERBOX,
  PP_FIT_CROP,
  PP_N_FITS
} pp_fit;

typedef enum pp_align {
  PP_ALIGN_CENTER,
  PP_ALIGN_TOP_LEFT,
  PP_N_ALIGNS
} pp_align;

typedef enum pp_method {
  PP_METHOD_NEAREST,
  PP_METHOD_BILINEAR,
  PP_METHOD_BICUBIC,
  PP_METHOD_LANCZOS,
  PP_METHOD_AREA,
  PP_N_METHODS
} pp_method;

typedef enum pp_denoise {
  PP_DENOISE_NONE,
  PP_DENOISE_GAUSSIAN, /* border reflected, without the edge sample */
  PP_DENOISE_MEDIAN,   /* border replicated */
  PP_N_DENOISES
} pp_denoise;

typedef enum pp_layout {
  PP_LAYOUT_NCHW,
  PP_LAYOUT_NHWC,
  PP_N_LAYOUTS
} pp_layout;

typedef enum pp_type {
  PP_TYPE_FLOAT32,
  PP_TYPE_FLOAT16,
  PP_TYPE_UINT8,
  PP_TYPE_INT8,
  PP_N_TYPES
} pp_type;

typedef enum pp_channels {
  PP_CHANNELS_RGB,
  PP_CHANNELS_BGR,
  PP_CHANNELS_GRAY,
  PP_N_CHANNEL_ORDERS
} pp_channels;

/* The tensor and how the picture gets into it. Field names are the element's
 * property names, so that an error text names what the user wrote.
 * out = (v * scale - mean) / std for v in 0...255; mean, std and pad_value are
 * in the order of the tensor's channels, gray uses the first. uint8 and int8
 * elements are round (out / quant_scale) + quant_zero_point, saturated. */
typedef struct pp_spec {
  int width, height; /* of the tensor, pixels */
  pp_layout layout;
  pp_type type;
  pp_channels channels;
  pp_fit fit;
  pp_align pad_align; /* letterbox: where the picture goes */
  bool ignore_pixel_aspect_ratio;
  int resize;           /* short side before the crop; 0: not set */
  double crop_fraction; /* crop over resized side; 0: not set */
  pp_method method;
  bool antialias;       /* widen the filter when shrinking */
  pp_denoise denoise;   /* before resampling, on the stored planes */
  int denoise_size;     /* gaussian: 3, 5 or 7 samples; median: 3 or 5 */
  double denoise_sigma; /* gaussian; 0: the fixed kernel of that size */
  double scale;
  double mean[PP_MAX_CHANNELS];
  double std[PP_MAX_CHANNELS];
  double pad_value[PP_MAX_CHANNELS]; /* in 0...255, before normalisation */
  double quant_scale;                /* 0: scale */
  int quant_zero_point;
} pp_spec;

/* Fills *spec with the defaults: 0x0 (to be set), nchw float32 rgb, stretch,
 * bilinear without antialias or denoising (size 3, sigma 0), scale 1/255, mean
 * 0, std 1, pad 114, quant scale and zero point 0. */
void pp_spec_init (pp_spec *spec);

/* Bytes of one element; the tensor's number of channels, 1 or 3. */
size_t pp_type_size (pp_type type);
int pp_channels_count (pp_channels channels);

/* plan */

/* Everything decided about how one format becomes one tensor: immutable, made
 * on the host, no device involved. Counted; any thread. */
typedef struct pp_plan pp_plan;

/* Where the picture went. The picture's rectangle source of the frame lies on
 * the rectangle target of the tensor; target is larger than the tensor where
 * the picture was cropped. matrix maps continuous tensor coordinates (x, y) to
 * frame coordinates: (m0 x + m1 y + m2, m3 x + m4 y + m5). */
typedef struct pp_geometry {
  pp_rect source, target;
  double matrix[6];
} pp_geometry;

/* source: the part of the frame that is the picture, NULL for all of it.
 * Returns the plan with one reference, or NULL with PP_BAD_ARGUMENT (the text
 * names the spec's or format's field and its value) or PP_NO_MEMORY. */
pp_plan *pp_plan_new (const pp_spec *spec, const pp_format *format,
    const pp_rect *source, pp_error *error);
pp_plan *pp_plan_ref (pp_plan *plan);
void pp_plan_unref (pp_plan **plan);

void pp_plan_get_geometry (const pp_plan *plan, pp_geometry *geometry);
/* Bytes of the tensor, without padding of any kind. */
size_t pp_plan_tensor_size (const pp_plan *plan);
/* The rows and bytes of plane that the plan's taps, or the median before them,
 * can reach: a frame must have (y + height - 1) * stride + x + width bytes
 * there. x and width are in bytes, y and height in rows. Empty for a plane that
 * is not read. */
pp_rect pp_plan_plane_extent (const pp_plan *plan, int plane);

/* pinned host memory */

/* Host memory that the device copies to and from directly; plain memory on the
 * CPU. An arena keeps freed blocks and hands them out again. Counted: every
 * block holds a reference, so blocks outlive the device they were made for.
 * Any thread. */
typedef struct pp_arena pp_arena;

pp_arena *pp_arena_ref (pp_arena *arena);
void pp_arena_unref (pp_arena **arena);
/* size > 0. The block is aligned to 256 bytes; its content is undefined. NULL
 * with PP_NO_MEMORY. */
void *pp_arena_alloc (pp_arena *arena, size_t size, pp_error *error);
/* size as given to pp_arena_alloc; block may be NULL. */
void pp_arena_free (pp_arena *arena, void *block, size_t size);

/* device */

typedef enum pp_backend_id {
  PP_BACKEND_CUDA,
  PP_BACKEND_CPU,
  PP_N_BACKENDS
} pp_backend_id;

/* A device. On a GPU those of a process share a few streams and the buffers that
 * belong to them; jobs, order, errors and waiting are each device's own. On the
 * CPU streams are, too. pp_submit, pp_device_reserve and
 * pp_device_close from one thread at a time, the rest from any. In a fork of the
 * process that opened it nothing waits: what would fails with PP_DEVICE_FAILED,
 * and nothing is given back. */
typedef struct pp_device pp_device;

/* How a device works; 0 is automatic.
 * streams: those made, 1...PP_MAX_STREAMS. Automatic makes four, and the stage
 * times of the first jobs decide how many of them later jobs use; on the CPU it
 * is the cores, four at most, all used.
 * staging_threads: 1...PP_MAX_STAGING_THREADS, which copy pageable planes to
 * pinned memory. Automatic is half the cores, six at most. Made when the first
 * pageable plane comes, never where the device works on the caller's memory. */
typedef struct pp_device_options {
  int streams;
  int staging_threads;
} pp_device_options;

/* index: which device, -1 for the first. options: NULL for automatic.
 * Returns NULL with PP_NO_DEVICE (the text holds the driver's own words),
 * PP_NO_MEMORY or PP_BAD_ARGUMENT. The caller's current CUDA device and context
 * stay as they are, here and in every other call. */
pp_device *pp_device_open (pp_backend_id backend, int index,
    const pp_device_options *options, pp_error *error);
/* Waits for all jobs, leaves their results in them, gives everything back but
 * the arena. Never call it from a callback. */
void pp_device_close (pp_device **device);

/* One line, e.g. "cuda: NVIDIA H200 (device 0)"; lives as long as device. */
const char *pp_device_name (const pp_device *device);
pp_backend_id pp_device_backend (const pp_device *device);
/* Streams made, and how many of them the next job may run on: fewer once that
 * is decided. */
int pp_device_streams (const pp_device *device);
int pp_device_streams_in_use (pp_device *device);
/* Jobs that keep everything busy: one a stream, or, from the first pageable
 * frame on, two a staging thread. By pp_submit's caller. */
int pp_device_useful_jobs (const pp_device *device);
/* Transfer none. */
pp_arena *pp_device_arena (pp_device *device);
/* Makes room for jobs of plan on every stream and loads what they run, so that
 * no later pp_submit of this plan, or of one that needs less, allocates, but for
 * staging. Automatic streams are decided anew; where device memory is not enough
 * for all of them, those with room are used. Waits for all jobs. */
pp_status pp_device_reserve (
    pp_device *device, const pp_plan *plan, pp_error *error);
/* Waits until every job ended and its callbacks returned. Returns the device's
 * sticky error if it has one. */
pp_status pp_device_drain (pp_device *device, pp_error *error);
/* PP_OK, or the first failure of a job; sticky until the device is closed. */
pp_status pp_device_error (pp_device *device, pp_error *error);

/* jobs */

/* One frame under way. Counted; any thread. A job outlives its device. */
typedef struct pp_job pp_job;

/* When each stage began and ended, in microseconds since the start of the device's
 * first job; those of a job on another stream may be negative. Upload is [start,
 * uploaded], kernel [uploaded, computed], download [computed, done]. Of a frame in
 * two bands, see urgent below, kernel and download are the lower one's: what the
 * upper one hid behind the upload is not counted again. */
typedef struct pp_times {
  double start, uploaded, computed, done;
} pp_times;

/* What a job moved, and where it ran. */
typedef struct pp_job_info {
  uint64_t sequence;  /* 0 for the device's first job */
  int stream;         /* from 0, less than streams_in_use */
  int streams_in_use; /* when it was submitted */
  bool
      streams_decided; /* automatic ones: by the stage times of jobs before it */
  pp_times times;
  size_t bytes_up, bytes_down; /* over the bus; 0 on the CPU */
  size_t bytes_staged;         /* copied to pinned memory first */
} pp_job_info;

typedef struct pp_task {
  pp_plan *plan; /* the job takes a reference of its own */
  pp_view view;  /* of the whole frame; read until input_done */
  /* Bit p: plane p lies in memory of an arena of this backend. Other planes
   * are staged: copied to pinned memory by a thread of the device, or read where
   * they are on the CPU. */
  unsigned pinned_planes;
  void *tensor; /* in arena memory; written until done */
  /* Which plan's padding the tensor's block holds; kept beside the block by its
   * owner. 0 for a new block and after anyone else wrote to it. */
  uint64_t *padding;
  /* Start only when this job has ended, staging included; or NULL. View is read
   * after that. One of another device is waited for by pp_submit, or by the
   * thread that stages. */
  pp_job *after;
  /* Its tensor is waited for before more frames come: while there is no other
   * job, the host makes more calls for it, so that the bus works both ways at
   * once. */
  bool urgent;
  /* Both are called exactly once for a job that pp_submit returned, input_done
   * first, from threads of the device, with no lock held; they must not wait for
   * jobs, as pp_submit and pp_device_reserve may. input_done: the device
   * has let go of view; it comes as soon as a job whose planes are all staged is
   * copied. done: the tensor is complete (error NULL), or the device failed;
   * info lives for the call. A job that fails ends after done, any other may
   * end before. */
  void (*input_done) (void *user);
  void (*done) (void *user, const pp_job_info *info, const pp_error *error);
  void *user;
} pp_task;

/* Queues one job for the next stream and returns at once, or, when too many jobs
 * are unfinished (two a stream, or, once frames are staged, two a staging thread
 * if that is more), after the oldest ended. It never waits for staging, but where
 * the job comes after another device's. Jobs of one device start on their stream,
 * and end, in the order of submission.
 * Returns NULL, with no callback called and nothing left queued, when the device
 * has failed before (its sticky error) or an argument is bad. A call that fails
 * for this job makes the job fail. */
pp_job *pp_submit (pp_device *device, const pp_task *task, pp_error *error);

pp_job *pp_job_ref (pp_job *job);
void pp_job_unref (pp_job **job);
/* Whether the job has ended, well or not. */
bool pp_job_query (pp_job *job);
/* Waits until the job has ended; its result. Never call it from a callback. */
pp_status pp_job_wait (pp_job *job, pp_error *error);
/* Frees a block of arena memory when the job no longer writes to it: at once or
 * when it ends. Never waits. */
void pp_job_free_block_after (
    pp_job *job, pp_arena *arena, void *block, size_t size);

#ifdef __cplusplus
}
#endif

#endif
