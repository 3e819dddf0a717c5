/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * The engine's public interface, and the only header of the engine that gst/
 * includes. Plain C11, without GLib and GStreamer. In the order of use:
 *
 *   pp_spec and pp_format   say what is wanted and what frames look like
 *   pp_plan_new             makes a plan of both
 *   pp_device_open          opens a GPU or the CPU
 *   pp_submit               starts a job: one frame, by a plan, on a device
 *   pp_job_wait             waits for its tensor
 *
 * Errors: a function that can fail returns a pp_status, or NULL where it
 * returns a pointer. If its error argument is not NULL, it then fills it with a
 * text that says what was wrong, with the value. On success it leaves it alone.
 * Pointers: a function that destroys takes the address of a pointer. The
 * pointer may be NULL, and is NULL afterwards.
 * Units: sizes are in bytes and times in microseconds, unless stated otherwise.
 * Coordinates count pixels from the top left corner; pixel i covers [i, i + 1).
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
/* Largest numbers of streams and staging threads of a device. */
#define PP_MAX_STREAMS 16
#define PP_MAX_STAGING_THREADS 16
/* Most pictures of a job. */
#define PP_MAX_PICTURES 64

typedef enum pp_status {
  PP_OK = 0,
  PP_BAD_ARGUMENT, /* an argument has a value that is not allowed */
  PP_NO_DEVICE,    /* no driver, no such device, or the backend is not built */
  PP_NO_MEMORY,    /* host, pinned or device memory is exhausted */
  PP_DEVICE_FAILED /* a call on the device failed */
} pp_status;

/* A plain value: copy it; there is nothing to free. */
typedef struct pp_error {
  pp_status status;
  char text[240]; /* one line, NUL-terminated, no full stop */
} pp_error;

/* Enumerations end in their number of values, which is no value itself. */

/* ---- input: the frame ---------------------------------------------------- */

typedef enum pp_model {
  PP_MODEL_RGB,  /* components R, G, B */
  PP_MODEL_YUV,  /* components Y, Cb, Cr */
  PP_MODEL_GRAY, /* component Y */
  PP_N_MODELS
} pp_model;

/* Where one component's samples are. A sample has pp_format.sample_bytes bytes;
 * its value is (sample >> shift) & (2^depth - 1). Two components either share
 * no byte or are equal in every field. */
typedef struct pp_component {
  int plane;        /* index into pp_view */
  int offset;       /* bytes from the start of a row to its first sample */
  int pixel_stride; /* bytes from one sample to the next */
  int sub_x, sub_y; /* log2 of the subsampling, 0 to 2 */
  int depth;        /* bits of the value, 1 to 16 */
  int shift;        /* unused bits below the value */
} pp_component;

/* The pixel format and size of frames. The engine knows no format by name: this
 * description is all that it sees. */
typedef struct pp_format {
  pp_model model;
  int width, height; /* of the frame, pixels */
  int par_n, par_d;  /* pixel aspect ratio, both positive */
  int n_components;  /* 3, or 1 for PP_MODEL_GRAY */
  int sample_bytes;  /* 1 or 2 */
  bool big_endian;   /* byte order of 2-byte samples */
  pp_component component[PP_MAX_COMPONENTS];
  /* Range: (value - offset) / scale is 0...1, and -0.5...0.5 for Cb and Cr. As
   * gst_video_color_range_offsets gives them. */
  int offset[PP_MAX_COMPONENTS];
  int scale[PP_MAX_COMPONENTS];
  double kr, kb;             /* weights of R and B in luma; YUV only */
  bool cosited_x, cosited_y; /* chroma is sited on luma samples on that axis,
                              * else between them */
} pp_format;

/* One frame's planes: the address of each plane's first row, and the bytes from
 * one row to the next, never negative. */
typedef struct pp_view {
  const uint8_t *plane[PP_MAX_PLANES];
  size_t stride[PP_MAX_PLANES];
} pp_view;

typedef struct pp_rect {
  int x, y, width, height; /* pixels */
} pp_rect;

/* ---- output: the tensor -------------------------------------------------- */

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

/* How the frame is turned before all else; the values of GStreamer's
 * GstVideoOrientationMethod, in its order. What follows, such as fit and the
 * pixel aspect ratio, is of the turned picture. */
typedef enum pp_direction {
  PP_DIRECTION_IDENTITY,
  PP_DIRECTION_90R, /* clockwise */
  PP_DIRECTION_180,
  PP_DIRECTION_90L,   /* counter-clockwise */
  PP_DIRECTION_HORIZ, /* left and right are swapped */
  PP_DIRECTION_VERT,  /* top and bottom */
  PP_DIRECTION_UL_LR, /* across the diagonal from the upper left corner */
  PP_DIRECTION_UR_LL, /* across the one from the upper right corner */
  PP_N_DIRECTIONS
} pp_direction;

/* Whether the turned picture is as wide as the frame is high. */
bool pp_direction_swaps_axes (pp_direction direction);

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
  PP_DENOISE_GAUSSIAN, /* beyond the border: 3 2 1 | 0 1 2 3 */
  PP_DENOISE_MEDIAN,   /* beyond the border: 0 0 0 | 0 1 2 3 */
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

/* A tensor of bytes that lies as a video frame does: pixel (x, y) of R, G or B is
 * the byte offset[c] + y * row_stride + x * pixel_stride; that of gray is at
 * offset[0]. Bytes that are no pixel's are 255. */
typedef struct pp_surface {
  size_t size; /* bytes; 0: there is none, and the layout says how it lies */
  /* 1: a plane for each channel, one behind the other. 3: offsets are 0, 1 and 2,
   * in any order. 4: the same, and the fourth byte is no pixel's. */
  int pixel_stride;
  size_t row_stride; /* bytes; of all planes */
  size_t offset[PP_MAX_CHANNELS];
} pp_surface;

/* The tensor, and how the picture gets into it. Fields are named as the
 * element's properties, so that an error text names what the user wrote.
 *
 * A colour value v of 0...255 is normalised to out = (v * scale - mean) / std.
 * Integer types hold round (out / quant_scale) + quant_zero_point, saturated.
 * mean, std and pad_value are in the order of the tensor's channels; a gray
 * tensor uses the first. */
typedef struct pp_spec {
  int width, height; /* of the tensor, pixels */
  pp_layout layout;
  pp_type type;
  pp_channels channels;
  pp_direction direction;
  pp_fit fit;
  pp_align pad_align; /* letterbox: where the picture is */
  bool ignore_pixel_aspect_ratio;
  /* How large the picture is before its middle is cut out. At most one is set;
   * 0 is not set. */
  int resize;           /* the shorter side, pixels */
  double crop_fraction; /* the tensor's side over the picture's, up to 1 */
  pp_method method;
  bool antialias;       /* widen the filter when shrinking */
  pp_denoise denoise;   /* on the frame's planes, before resampling */
  int denoise_size;     /* gaussian: 3, 5 or 7 samples; median: 3 or 5 */
  double denoise_sigma; /* gaussian, samples; 0: OpenCV's kernel of that size */
  double scale;
  double mean[PP_MAX_CHANNELS];
  double std[PP_MAX_CHANNELS];
  double pad_value[PP_MAX_CHANNELS]; /* in 0...255, before normalisation */
  double quant_scale;                /* 0: the same as scale */
  int quant_zero_point;
  pp_surface
      surface; /* only with PP_TYPE_UINT8; the layout says nothing then */
} pp_spec;

/* Fills *spec with the defaults: nchw, float32, rgb, not turned, stretch,
 * bilinear, no antialias, no denoising (size 3, sigma 0), scale 1/255, mean 0, std 1,
 * padding of 114, quant_scale and quant_zero_point 0, no surface. width and height
 * are 0: set them. */
void pp_spec_init (pp_spec *spec);

/* Bytes of one element. */
size_t pp_type_size (pp_type type);
/* Channels of the tensor: 1 or 3. */
int pp_channels_count (pp_channels channels);

/* ---- plan ---------------------------------------------------------------- */

/* All that is computed before the first frame of a format: geometry, filter
 * weights, colour matrix, normalisation. Immutable, reference-counted, made
 * without any device. Any thread. */
typedef struct pp_plan pp_plan;

/* Where the picture is in the tensor. source, in the stored frame, was turned
 * and resized to target, in the tensor. Where the picture was cropped, target is larger than
 * the tensor and starts at negative coordinates. matrix maps a point (x, y) of
 * the tensor to the frame: (m0 x + m1 y + m2, m3 x + m4 y + m5). */
typedef struct pp_geometry {
  pp_rect source, target;
  double matrix[6];
} pp_geometry;

/* source: the part of the stored frame that is the picture; NULL for the whole
 * frame.
 * Returns one reference, or NULL with PP_BAD_ARGUMENT or PP_NO_MEMORY. The text
 * of PP_BAD_ARGUMENT names the field of spec or format and its value. */
pp_plan *pp_plan_new (const pp_spec *spec, const pp_format *format,
    const pp_rect *source, pp_error *error);
pp_plan *pp_plan_ref (pp_plan *plan);
void pp_plan_unref (pp_plan **plan);

void pp_plan_get_geometry (const pp_plan *plan, pp_geometry *geometry);
/* Bytes of the tensor. Without a surface, its rows and channels have no gaps
 * between them. */
size_t pp_plan_tensor_size (const pp_plan *plan);
/* Makes a tensor of the plan's size padding from end to end: a slice of a batch
 * that gets no picture. No job may be writing to it. padding: the block's record,
 * as in pp_picture; nothing is written where it says that this plan did so already. */
void pp_plan_fill_tensor (const pp_plan *plan, void *tensor, uint64_t *padding);
/* The part of a frame's plane that jobs of the plan read: y and height in rows,
 * x and width in bytes. The plane must have at least
 * (y + height - 1) * stride + x + width bytes. Empty for a plane that is not
 * read. */
pp_rect pp_plan_plane_extent (const pp_plan *plan, int plane);

/* Makes plans for regions, which are new in each frame, in less than a
 * microsecond each: tap tables are kept for regions of the same width or
 * height, and memory is allocated beforehand. Plans may outlive it. One thread
 * at a time. */
typedef struct pp_region_plans pp_region_plans;

/* spec and format: as in pp_plan_new. n_plans: how many plans there are at once;
 * if there are more, or if they keep all of the tables, plans are made as
 * pp_plan_new makes them; at least 1. NULL as pp_plan_new. */
pp_region_plans *pp_region_plans_new (
    const pp_spec *spec, const pp_format *format, int n_plans, pp_error *error);
void pp_region_plans_free (pp_region_plans **plans);
/* region: inside of the frame. One reference; the plan gives the same tensors as
 * one of pp_plan_new. NULL as there. */
pp_plan *pp_region_plans_get (
    pp_region_plans *plans, const pp_rect *region, pp_error *error);

/* ---- memory -------------------------------------------------------------- */

/* Allocates one kind of memory: pinned host memory, which the GPU copies to and
 * from directly and which is plain memory on the CPU (pp_device_arena), or
 * memory on the GPU (pp_device_memory). It keeps freed blocks for later
 * allocations. Reference-counted: each block holds a reference, so that blocks
 * outlive the device that they were allocated for. Any thread. */
typedef struct pp_arena pp_arena;

pp_arena *pp_arena_ref (pp_arena *arena);
void pp_arena_unref (pp_arena **arena);
/* size is above 0. The block is aligned to 256 bytes; its content is undefined.
 * NULL with PP_NO_MEMORY. */
void *pp_arena_alloc (pp_arena *arena, size_t size, pp_error *error);
/* size: as it was given to pp_arena_alloc. block may be NULL. */
void pp_arena_free (pp_arena *arena, void *block, size_t size);
/* Copy size bytes from memory on the GPU to the host's, and back. arena: of
 * pp_device_memory; device: an address in one of its blocks; host: any host
 * memory, faster where it is pinned. The copy is done when they return. They
 * wait for no job: whoever calls them has waited for those that write to the
 * block. Also after the device was closed. PP_BAD_ARGUMENT if arena is of host
 * memory, PP_DEVICE_FAILED, PP_NO_MEMORY. */
pp_status pp_arena_download (pp_arena *arena, const void *device, void *host,
    size_t size, pp_error *error);
pp_status pp_arena_upload (pp_arena *arena, void *device, const void *host,
    size_t size, pp_error *error);

/* ---- device -------------------------------------------------------------- */

typedef enum pp_backend_id {
  PP_BACKEND_CUDA,
  PP_BACKEND_CPU,
  PP_N_BACKENDS
} pp_backend_id;

/* An opened GPU, or the CPU. The devices that a process opens in one context of
 * a GPU share its streams and their buffers, and those on the CPU share its
 * worker threads, at most one a core. Jobs, their order and errors belong to
 * each device alone.
 *
 * Threads: pp_submit, pp_device_reserve and pp_device_close are called by one
 * thread at a time, all other functions by any.
 * Fork: a child process cannot use the device that its parent opened. Calls
 * that would block fail with PP_DEVICE_FAILED, and closing the device frees
 * nothing. */
typedef struct pp_device pp_device;

/* 0 is automatic in both fields. */
typedef struct pp_device_options {
  /* 1...PP_MAX_STREAMS. Automatic on a GPU: four are made, and the stage times
   * of the first jobs decide how many of them later jobs use. Automatic on the
   * CPU: one a core, at most four, and all are used. */
  int streams;
  /* 1...PP_MAX_STAGING_THREADS threads that copy pageable planes to pinned
   * memory. Automatic: half the cores, at most six. They are started with the
   * first pageable plane, and never on the CPU. */
  int staging_threads;
  /* The CUcontext to work in; NULL for the GPU's primary one, and on the CPU.
   * Pinned memory is of the primary one all the same, since it would die with
   * its context. */
  void *context;
  /* NULL, or called exactly once for each pp_device_open, with context_user, when
   * nothing of the device needs the context any more: no stream, and no block of
   * pp_device_memory. By any thread, with no lock held; by pp_device_open where
   * it fails. The context must live until then. The primary one is retained
   * instead. */
  void (*context_done) (void *context_user);
  void *context_user;
} pp_device_options;

/* index: which device, from 0; -1 for the first, or that of options->context.
 * options: NULL for automatic.
 * Returns NULL with PP_NO_DEVICE (the text has the driver's own message),
 * PP_NO_MEMORY or PP_BAD_ARGUMENT. No function of this header changes the
 * caller's current CUDA device or context. */
pp_device *pp_device_open (pp_backend_id backend, int index,
    const pp_device_options *options, pp_error *error);
/* Waits for all jobs, then frees everything but the arena's blocks that are in
 * use. Jobs keep their results. Never call it from a callback. */
void pp_device_close (pp_device **device);

/* One line, such as "cuda: NVIDIA H200 (device 0)". Belongs to the device. */
const char *pp_device_name (const pp_device *device);
pp_backend_id pp_device_backend (const pp_device *device);
/* How many streams there are, and how many of them the next job may use: fewer
 * once stage times have decided it. */
int pp_device_streams (const pp_device *device);
int pp_device_streams_in_use (pp_device *device);
/* How many jobs under way keep the device busy: one a stream, or, from the
 * first pageable frame on, two a staging thread; two a stream, from the first frame
 * of several pictures on that a staging thread queued. Called by the thread that
 * submits. */
int pp_device_useful_jobs (const pp_device *device);
/* The CUcontext that the device works in; NULL on the CPU. */
void *pp_device_context (const pp_device *device);
/* Host memory. Belongs to the device; take a reference to keep it longer. */
pp_arena *pp_device_arena (pp_device *device);
/* Memory on the GPU, in the device's context; NULL on the CPU. Belongs to the
 * device, as above. */
pp_arena *pp_device_memory (pp_device *device);
/* Allocates the device memory that jobs of plan need on every stream, and loads
 * their kernels. Afterwards pp_submit allocates nothing for this plan, or for
 * one that needs less, except to stage pageable planes. Where device memory is
 * not enough for all streams, only those that have it are used. The automatic
 * number of streams is decided anew. Waits for all jobs. */
pp_status pp_device_reserve (
    pp_device *device, const pp_plan *plan, pp_error *error);
/* The same for jobs of up to n_pictures pictures of the plan's frames, each with
 * a plan for any part of them and the same tensor. A picture whose tables are
 * larger than those of plan may still need more. */
pp_status pp_device_reserve_pictures (
    pp_device *device, const pp_plan *plan, int n_pictures, pp_error *error);
/* The same for tasks with on_device and tensors_on_device as given: what is on
 * the device already needs no room in the streams' buffers. */
pp_status pp_device_reserve_in_place (pp_device *device, const pp_plan *plan,
    int n_pictures, bool on_device, bool tensors_on_device, pp_error *error);
/* all: the stages of every further job are timed. Else, which is the default and
 * saves time on the GPU, those of the first 64 jobs after a reservation and of
 * one in eight after them. Called by the thread that submits. */
void pp_device_time_all (pp_device *device, bool all);
/* Waits until every job has ended and its callbacks have returned. Returns what
 * pp_device_error returns. */
pp_status pp_device_drain (pp_device *device, pp_error *error);
/* PP_OK, or the first failure of a job. A device that failed once stays failed
 * until it is closed. */
pp_status pp_device_error (pp_device *device, pp_error *error);

/* ---- jobs ---------------------------------------------------------------- */

/* Pictures of one frame on their way to tensors. Reference-counted; may outlive its device.
 * Any thread. */
typedef struct pp_job pp_job;

/* When each stage began and ended, in microseconds since the device's first job
 * started. Upload is [start, uploaded], kernel [uploaded, computed], download
 * [computed, done]. Where nothing is uploaded, uploaded is start; where nothing
 * is downloaded, computed is done. Times may be negative, since a job on another stream may
 * start before the first one. For a frame that was split in two bands (urgent,
 * below), computed and done are the lower band's. */
typedef struct pp_times {
  double start, uploaded, computed, done;
} pp_times;

/* Where a job ran, and what it moved. */
typedef struct pp_job_info {
  uint64_t sequence;  /* 0 for the device's first job */
  int stream;         /* from 0, less than streams_in_use */
  int streams_in_use; /* when it was submitted */
  /* streams_in_use was decided by stage times. */
  bool streams_decided;
  bool timed;                  /* times are there; see pp_device_time_all */
  pp_times times;              /* 0 where not timed */
  size_t bytes_up, bytes_down; /* over the bus; 0 on the CPU, and where source
                                * or tensors are on the device */
  size_t bytes_staged;         /* copied to pinned memory first */
} pp_job_info;

/* One picture of a job: a part of the task's frame, as the plan says, and the
 * tensor that it becomes. */
typedef struct pp_picture {
  pp_plan *plan; /* the job takes a reference of its own */
  /* Arena memory, as long as the plan's tensor: a block, or a slice of a block
   * that other pictures and jobs fill the rest of. Written until done is
   * called. Aligned for its elements. */
  void *tensor;
  /* Which plan's padding the tensor already has, so that it is written only
   * once. The owner of the block keeps a number for each slice beside it, and
   * sets it to 0 for a new block and after anyone else has written to it. Read
   * and written by pp_submit only. NULL: the padding is written. */
  uint64_t *padding;
} pp_picture;

typedef struct pp_task {
  /* Pictures that come together, such as a frame's regions. Their plans are of
   * one format, and their tensors, which have one size, type and layout, no bytes
   * between their elements, and do not overlap, are in one block. Those that lie side by side are downloaded
   * together. Read by pp_submit only. */
  const pp_picture *pictures;
  int n_pictures; /* 1...PP_MAX_PICTURES */
  pp_view view;   /* the whole frame; read until input_done is called */
  /* view's planes are addresses in the memory of the device's GPU, which its
   * context can read; whoever wrote them has ended, on the host's clock, before
   * pp_submit. Kernels read them where they are: any address and stride, though
   * multiples of 16 bytes are faster. They read whole aligned words of 8 bytes, so
   * up to 7 bytes beside a row, too. Nothing is staged or uploaded, and input_done
   * is called when the kernel has passed. pinned_planes is not read. Not on the
   * CPU. */
  bool on_device;
  /* The tensors are in a block of pp_device_memory, and stay there: nothing is
   * downloaded. Their padding is written by the job, where the records say that
   * it is missing. Not on the CPU. */
  bool tensors_on_device;
  /* No picture: the tensors, which are on the device, become padding from end to
   * end, unless the records say that they are. For slices of a batch that get no
   * picture, as pp_plan_fill_tensor is for host memory: whoever waits for this
   * job, too, sees them. view is not read. */
  bool padding_only;
  /* Bit p is set if plane p is in memory of an arena of this backend. On a GPU
   * the other planes are staged: a thread of the device copies them to pinned
   * memory. The CPU reads them where they are. */
  unsigned pinned_planes;
  /* NULL, or a job that must end before this one reads view. If it is of
   * another device, pp_submit waits for it, or the thread that stages does. */
  pp_job *after;
  /* The caller waits for this tensor before it submits more. While no other job
   * is under way, the engine may then split the one picture in two bands, so
   * that one is downloaded while the other is uploaded: lower latency for more
   * calls. */
  bool urgent;
  /* For each job that pp_submit returned, both are called exactly once,
   * input_done first, by threads of the device, with no lock held. They must
   * not block on jobs: no pp_job_wait, pp_submit or pp_device_reserve.
   * input_done: view is not read any more. If all planes are staged, this is as
   * soon as they are copied.
   * done: error is NULL and all tensors complete, or error says how the device
   * failed. info is valid during the call. A job that failed ends after done
   * was called; any other may end before. */
  void (*input_done) (void *user);
  void (*done) (void *user, const pp_job_info *info, const pp_error *error);
  void *user;
} pp_task;

/* Queues one job on the next stream and returns. It waits only
 *   - for the oldest job, while too many are unfinished: two a stream or, once
 *     frames are staged, two a staging thread if that is more;
 *   - for a job of another device that task->after names;
 *   - for another device's call, about 15 us long, that queues a job on the same
 *     stream.
 * The jobs of a device end in the order of submission.
 * Returns NULL, without any callback, if an argument is bad or if the device
 * has failed before. If a call fails later, the job fails. */
pp_job *pp_submit (pp_device *device, const pp_task *task, pp_error *error);

pp_job *pp_job_ref (pp_job *job);
void pp_job_unref (pp_job **job);
/* Whether the job has ended, well or not. */
bool pp_job_query (pp_job *job);
/* Waits until the job has ended and returns its result. Never call it from a
 * callback. */
pp_status pp_job_wait (pp_job *job, pp_error *error);
/* The CUevent that passes when the job's tensors are complete, for whoever reads
 * them on a stream of its own: cuStreamWaitEvent. Only waited for, never
 * recorded; valid until the job's last unref. If the job has not been queued yet,
 * since its frame is being staged, this waits until it is. It passes also where
 * the job fails, which pp_job_wait tells. The block must stay, and nobody write to
 * it, until that stream has read it: the engine does not know.
 * NULL: there is nothing to wait for on a stream. The job has ended before
 * anyone asked, it could not be queued, or it is of the CPU: then pp_job_wait.
 * Never call it from a callback. */
void *pp_job_event (pp_job *job);
/* Frees a block of arena memory as soon as the job does not write to it any
 * more: now, or when it ends. Never waits. */
void pp_job_free_block_after (
    pp_job *job, pp_arena *arena, void *block, size_t size);

#ifdef __cplusplus
}
#endif

#endif
