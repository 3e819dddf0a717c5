/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include "settings.h"

#include <string.h>

#include "unchecked_param.h"
#include "presets.h"

typedef enum {
  KIND_ENUM,
  KIND_INT,
  KIND_BOOLEAN,
  KIND_DOUBLE,
  KIND_STRING,
  KIND_LIST
} Kind;

/* May change while PLAYING; the others up to READY. */
#define PLAYING TRUE
#define READY FALSE

static const GEnumValue backends[] = {
  { GST_PP_AUTO, "CUDA if there is a device, else the CPU", "auto" },
  { PP_BACKEND_CUDA, "CUDA", "cuda" },
  { PP_BACKEND_CPU, "CPU threads", "cpu" },
  { 0, NULL, NULL },
};

static const GEnumValue layouts[] = {
  { GST_PP_AUTO, "As downstream's caps say, else nchw", "auto" },
  { PP_LAYOUT_NCHW, "Planar: batch, channel, row, column", "nchw" },
  { PP_LAYOUT_NHWC, "Interleaved: batch, row, column, channel", "nhwc" },
  { 0, NULL, NULL },
};

static const GEnumValue types[] = {
  { GST_PP_AUTO, "As downstream's caps say, else float32", "auto" },
  { PP_TYPE_FLOAT32, "32-bit float", "float32" },
  { PP_TYPE_FLOAT16, "16-bit float", "float16" },
  { PP_TYPE_UINT8, "8-bit unsigned integer", "uint8" },
  { PP_TYPE_INT8, "8-bit signed integer", "int8" },
  { 0, NULL, NULL },
};

static const GEnumValue channels[] = {
  { GST_PP_AUTO, "As downstream's caps say, else rgb", "auto" },
  { PP_CHANNELS_RGB, "Red, green, blue", "rgb" },
  { PP_CHANNELS_BGR, "Blue, green, red", "bgr" },
  { PP_CHANNELS_GRAY, "Luma", "gray" },
  { 0, NULL, NULL },
};

static const GEnumValue fits[] = {
  { PP_FIT_STRETCH, "Fill the tensor, whatever the aspect ratio", "stretch" },
  { PP_FIT_LETTERBOX, "Keep the aspect ratio and pad", "letterbox" },
  { PP_FIT_CROP, "Keep the aspect ratio and cut the centre", "crop" },
  { 0, NULL, NULL },
};

static const GEnumValue aligns[] = {
  { PP_ALIGN_CENTER, "Padding on both sides", "center" },
  { PP_ALIGN_TOP_LEFT, "Padding right and below", "top-left" },
  { 0, NULL, NULL },
};

static const GEnumValue methods[] = {
  { PP_METHOD_NEAREST, "Nearest sample", "nearest" },
  { PP_METHOD_BILINEAR, "Bilinear", "bilinear" },
  { PP_METHOD_BICUBIC, "Bicubic (a = -0.75, antialiased -0.5)", "bicubic" },
  { PP_METHOD_LANCZOS, "Lanczos, radius 3", "lanczos" },
  { PP_METHOD_AREA, "Mean of the area a pixel covers", "area" },
  { 0, NULL, NULL },
};

static const GEnumValue denoises[] = {
  { PP_DENOISE_NONE, "None", "none" },
  { PP_DENOISE_GAUSSIAN, "Gaussian", "gaussian" },
  { PP_DENOISE_MEDIAN, "Median", "median" },
  { 0, NULL, NULL },
};

/* One property a row. An enumeration without values has the presets'. A number
 * outside of min to max is an error, however little it may count; a maximum of
 * G_MAXDOUBLE: any that is finite. */
typedef struct {
  const gchar *name;
  Kind kind;
  gsize offset;
  gboolean mutable_playing;
  gdouble standard, min, max;
  const gchar *list; /* a list's default, as it is shown */
  const GEnumValue *values;
  const gchar *type_name;
  const gchar *blurb;
} Property;

#define AT(field) G_STRUCT_OFFSET (GstPpSettings, field)
#define ENUM(values, type) NULL, values, "GstCudaPreproc" type
#define LIST(text) text, NULL, NULL
#define NUMBER NULL, NULL, NULL

/* clang-format off */
static const Property properties[] = {
  { "backend", KIND_ENUM, AT (backend), READY, GST_PP_AUTO, 0, 0,
    ENUM (backends, "Backend"), "Where frames are converted" },
  { "cuda-device-id", KIND_INT, AT (cuda_device_id), READY, -1, -1, G_MAXINT,
    NUMBER, "CUDA device (-1: the first)" },
  { "streams", KIND_INT, AT (streams), READY, 0, 0, PP_MAX_STREAMS,
    NUMBER, "CUDA streams, or threads on the CPU (0: automatic: up to four; of "
    "streams as many as the first frames' times show to be of use)" },
  { "staging-threads", KIND_INT, AT (staging_threads), READY, 0, 0,
    PP_MAX_STAGING_THREADS,
    NUMBER, "Threads that copy frames to pinned memory where upstream does not "
    "put them there (0: automatic: half the cores, six at most)" },
  { "async-depth", KIND_INT, AT (async_depth), READY, -1, -1, 64,
    NUMBER, "Frames held back so that they overlap (-1: after the first, as "
    "many as streams for a seekable source that is not live, else 0)" },
  { "preset", KIND_ENUM, AT (preset), READY, GST_PP_PRESET_NONE, 0, 0,
    ENUM (NULL, "Preset"), "What the model was trained with: sets the listed "
    "properties where they are not set otherwise" },
  { "width", KIND_INT, AT (width), READY, 0, 0, PP_MAX_SIZE,
    NUMBER, "Width of the tensor (0: as the caps say, else the frame's)" },
  { "height", KIND_INT, AT (height), READY, 0, 0, PP_MAX_SIZE,
    NUMBER, "Height of the tensor (0: as the caps say, else the frame's)" },
  { "layout", KIND_ENUM, AT (layout), READY, GST_PP_AUTO, 0, 0,
    ENUM (layouts, "Layout"), "Order of the tensor's dimensions" },
  { "type", KIND_ENUM, AT (type), READY, GST_PP_AUTO, 0, 0,
    ENUM (types, "Type"), "Type of the tensor's elements" },
  { "channels", KIND_ENUM, AT (channels), READY, GST_PP_AUTO, 0, 0,
    ENUM (channels, "Channels"), "The tensor's channels and their order" },
  { "fit", KIND_ENUM, AT (fit), READY, PP_FIT_STRETCH, 0, 0,
    ENUM (fits, "Fit"), "How the picture gets into the tensor" },
  { "pad-align", KIND_ENUM, AT (pad_align), READY, PP_ALIGN_CENTER, 0, 0,
    ENUM (aligns, "PadAlign"), "Where fit=letterbox puts the picture" },
  { "ignore-pixel-aspect-ratio", KIND_BOOLEAN, AT (ignore_pixel_aspect_ratio),
    READY, FALSE, 0, 0,
    NUMBER, "Take pixels as square, as training code does" },
  { "resize", KIND_INT, AT (resize), READY, 0, 0, PP_MAX_SIZE,
    NUMBER, "Short side in pixels to resize to before the centre is cropped, "
    "torchvision's Resize (0: the tensor's)" },
  { "crop-fraction", KIND_DOUBLE, AT (crop_fraction), READY, 0, 0, 1,
    NUMBER, "The tensor's size over the size to resize to before the centre is "
    "cropped, timm's crop_pct (0: none)" },
  { "crop", KIND_LIST, AT (crop), PLAYING, 0, 0, 0,
    LIST (NULL), "The picture in the frame: x,y,width,height in pixels, after "
    "GstVideoCropMeta (unset: all of it)" },
  { "pad-value", KIND_LIST, AT (pad_value), PLAYING, 0, 0, 0,
    LIST ("114"), "Padding in 0...255, normalised like a pixel: one number, or "
    "one a channel" },
  { "method", KIND_ENUM, AT (method), PLAYING, PP_METHOD_BILINEAR, 0, 0,
    ENUM (methods, "Method"), "Interpolation" },
  { "antialias", KIND_BOOLEAN, AT (antialias), PLAYING, FALSE, 0, 0,
    NUMBER, "Widen the filter when shrinking, as Pillow and torchvision do; "
    "OpenCV and Ultralytics do not" },
  { "denoise", KIND_ENUM, AT (denoise), PLAYING, PP_DENOISE_NONE, 0, 0,
    ENUM (denoises, "Denoise"), "Denoising before the picture is resized" },
  { "denoise-size", KIND_INT, AT (denoise_size), PLAYING, 3, 3, 7,
    NUMBER, "Size of the denoising kernel: 3, 5 or, for gaussian, 7" },
  { "denoise-sigma", KIND_DOUBLE, AT (denoise_sigma), PLAYING, 0,
    0, G_MAXDOUBLE,
    NUMBER, "Standard deviation of gaussian denoising in pixels (0: OpenCV's "
    "fixed kernels)" },
  { "scale", KIND_DOUBLE, AT (scale), PLAYING, 1.0 / 255,
    -G_MAXDOUBLE, G_MAXDOUBLE,
    NUMBER, "Tensor = (pixel * scale - mean) / std, for pixels in 0...255" },
  { "mean", KIND_LIST, AT (mean), PLAYING, 0, 0, 0,
    LIST ("0"), "Subtracted after scaling: one number, or one a channel in the "
    "tensor's order" },
  { "std", KIND_LIST, AT (std), PLAYING, 0, 0, 0,
    LIST ("1"), "Divided by at the end: one number, or one a channel in the "
    "tensor's order" },
  { "quant-scale", KIND_DOUBLE, AT (quant_scale), READY, 0,
    0, G_MAXDOUBLE,
    NUMBER, "uint8 and int8: what one step is worth (0: scale, so that without "
    "mean and std the values are the pixels')" },
  { "quant-zero-point", KIND_INT, AT (quant_zero_point), READY, 0,
    -128, 255,
    NUMBER, "uint8 and int8: the integer that stands for 0" },
  { "timeline-location", KIND_STRING, AT (timeline_location), READY, 0, 0, 0,
    LIST (NULL), "File for when which of the last 4096 frames was uploaded, "
    "computed and downloaded, written at the end: .json (Perfetto, "
    "chrome://tracing) or .svg (a picture of a few)" },
  { "stats-interval", KIND_INT, AT (stats_interval), PLAYING, 0, 0, G_MAXINT,
    NUMBER, "Milliseconds after which an element message, cudapreproc-stats, "
    "says what stats says, of that time and since the start (0: none)" },
};
/* clang-format on */

static GParamSpec *
make_param (const Property *property)
{
  const GParamFlags flags = G_PARAM_READWRITE | G_PARAM_STATIC_STRINGS |
      (property->mutable_playing ? GST_PARAM_MUTABLE_PLAYING
                                 : GST_PARAM_MUTABLE_READY);
  const gchar *name = property->name;

  switch (property->kind) {
    case KIND_ENUM:
      return g_param_spec_enum (name, name, property->blurb,
          g_enum_register_static (property->type_name,
              property->values ? property->values : gst_pp_preset_values ()),
          (gint) property->standard, flags);
    case KIND_INT:
      return gst_pp_unchecked_param_int (name, property->blurb,
          (gint) property->min, (gint) property->max, (gint) property->standard,
          flags);
    case KIND_BOOLEAN:
      return g_param_spec_boolean (
          name, name, property->blurb, property->standard != 0, flags);
    case KIND_DOUBLE:
      return gst_pp_unchecked_param_double (name, property->blurb,
          property->min, property->max, property->standard, flags);
    case KIND_STRING:
    case KIND_LIST:
      return g_param_spec_string (
          name, name, property->blurb, property->list, flags);
  }
  g_assert_not_reached ();
}

guint
gst_pp_settings_install (GObjectClass *klass)
{
  for (guint i = 0; i < G_N_ELEMENTS (properties); i++)
    g_object_class_install_property (klass, i + 1, make_param (&properties[i]));
  return G_N_ELEMENTS (properties);
}

/* Numbers with commas between them, whatever the locale. */
static void
set_list (GstPpList *list, const gchar *text)
{
  g_free (list->text);
  list->text = g_strdup (text);
  list->length = 0;
  if (text == NULL)
    return;

  for (const gchar *rest = text;; rest++) {
    gchar *end = NULL;
    const gdouble value = g_ascii_strtod (rest, &end);

    if (end == rest || list->length == GST_PP_LIST_MAX) {
      list->length = -1;
      return;
    }
    list->value[list->length++] = value;
    while (g_ascii_isspace (*end))
      end++;
    if (*end == '\0')
      return;
    if (*end != ',') {
      list->length = -1;
      return;
    }
    rest = end;
  }
}

static void
set_string (gchar **field, const gchar *text)
{
  g_free (*field);
  *field = g_strdup (text);
}

/* Of a name that is one. */
static const Property *
find_property (const gchar *name)
{
  const Property *property = properties;

  while (g_strcmp0 (property->name, name) != 0)
    property++;
  return property;
}

static gpointer
field_of (const GstPpSettings *settings, const Property *property)
{
  return G_STRUCT_MEMBER_P (settings, property->offset);
}

static gchar *
say_range (const Property *property, gdouble value)
{
  const gchar *name = property->name;

  if (property->max < G_MAXDOUBLE)
    return g_strdup_printf ("%s is %.10g, must be %.10g to %.10g", name, value,
        property->min, property->max);
  if (property->min > -G_MAXDOUBLE)
    return g_strdup_printf ("%s is %.10g, must be at least %.10g and finite",
        name, value, property->min);
  return g_strdup_printf ("%s is %.10g, must be finite", name, value);
}

gboolean
gst_pp_settings_check (const GstPpSettings *settings, gchar **reason)
{
  for (guint i = 0; i < G_N_ELEMENTS (properties); i++) {
    const Property *property = &properties[i];
    const gconstpointer field = field_of (settings, property);
    gdouble value = property->min;

    if (property->kind == KIND_INT)
      value = *(const gint *) field;
    else if (property->kind == KIND_DOUBLE)
      value = *(const gdouble *) field;
    /* NaN fails every comparison. */
    if (!(value >= property->min && value <= property->max)) {
      *reason = say_range (property, value);
      return FALSE;
    }
  }
  if (settings->denoise_size % 2 == 0)
    *reason = g_strdup_printf ("denoise-size is %d, must be 3, 5 or, with "
                               "denoise=gaussian, 7",
        settings->denoise_size);
  else if (settings->backend == PP_BACKEND_CPU && settings->cuda_device_id >= 0)
    *reason = g_strdup_printf ("cuda-device-id is %d, must be -1 with "
                               "backend=cpu",
        settings->cuda_device_id);
  return *reason == NULL;
}

void
gst_pp_settings_init (GstPpSettings *settings)
{
  memset (settings, 0, sizeof *settings);
  for (guint i = 0; i < G_N_ELEMENTS (properties); i++) {
    const Property *property = &properties[i];
    gpointer field = field_of (settings, property);

    if (property->kind == KIND_LIST)
      set_list (field, property->list);
    else if (property->kind == KIND_STRING)
      *(gchar **) field = g_strdup (property->list);
    else if (property->kind == KIND_DOUBLE)
      *(gdouble *) field = property->standard;
    else
      *(gint *) field = (gint) property->standard;
  }
}

void
gst_pp_settings_clear (GstPpSettings *settings)
{
  for (guint i = 0; i < G_N_ELEMENTS (properties); i++) {
    gpointer field = field_of (settings, &properties[i]);

    if (properties[i].kind == KIND_LIST)
      set_list (field, NULL);
    else if (properties[i].kind == KIND_STRING)
      set_string (field, NULL);
  }
}

void
gst_pp_settings_set (GstPpSettings *settings, guint id, const GValue *value)
{
  const Property *property = &properties[id - 1];
  gpointer field = field_of (settings, property);

  settings->set |= G_GUINT64_CONSTANT (1) << (id - 1);
  switch (property->kind) {
    case KIND_ENUM:
      *(gint *) field = g_value_get_enum (value);
      break;
    case KIND_INT:
      *(gint *) field = g_value_get_int (value);
      break;
    case KIND_BOOLEAN:
      *(gboolean *) field = g_value_get_boolean (value);
      break;
    case KIND_DOUBLE:
      *(gdouble *) field = g_value_get_double (value);
      break;
    case KIND_STRING:
      set_string (field, g_value_get_string (value));
      break;
    case KIND_LIST:
      set_list (field,
          g_value_get_string (value) ? g_value_get_string (value)
                                     : property->list);
      break;
  }
}

void
gst_pp_settings_get (const GstPpSettings *settings, guint id, GValue *value)
{
  const Property *property = &properties[id - 1];
  const gconstpointer field = field_of (settings, property);

  switch (property->kind) {
    case KIND_ENUM:
      g_value_set_enum (value, *(const gint *) field);
      break;
    case KIND_INT:
      g_value_set_int (value, *(const gint *) field);
      break;
    case KIND_BOOLEAN:
      g_value_set_boolean (value, *(const gboolean *) field);
      break;
    case KIND_DOUBLE:
      g_value_set_double (value, *(const gdouble *) field);
      break;
    case KIND_STRING:
      g_value_set_string (value, *(gchar *const *) field);
      break;
    case KIND_LIST:
      g_value_set_string (value, ((const GstPpList *) field)->text);
      break;
  }
}

static void
copy_field (
    GstPpSettings *to, const GstPpSettings *from, const Property *property)
{
  gpointer field = field_of (to, property);
  const gconstpointer source = field_of (from, property);

  if (property->kind == KIND_LIST)
    set_list (field, ((const GstPpList *) source)->text);
  else if (property->kind == KIND_STRING)
    set_string (field, *(gchar *const *) source);
  else if (property->kind == KIND_DOUBLE)
    *(gdouble *) field = *(const gdouble *) source;
  else
    *(gint *) field = *(const gint *) source;
}

static gint
enum_from_nick (const GEnumValue *values, const gchar *nick)
{
  while (g_strcmp0 (values->value_nick, nick) != 0)
    values++;
  return values->value;
}

typedef struct {
  GstPpSettings *settings;
  guint64 user_set;
  gboolean only_mutable;
} Presetting;

/* resize and crop-fraction say the same: who sets one leaves the other alone. */
static gboolean
is_set_by_user (guint64 user_set, const Property *property)
{
  for (guint i = 0; i < G_N_ELEMENTS (properties); i++) {
    const gboolean same = &properties[i] == property ||
        (property->offset == AT (crop_fraction) &&
            properties[i].offset == AT (resize));
    if (same && (user_set & (G_GUINT64_CONSTANT (1) << i)) != 0)
      return TRUE;
  }
  return FALSE;
}

gboolean
gst_pp_settings_is_set (const GstPpSettings *settings, const gchar *name)
{
  return is_set_by_user (settings->set, find_property (name));
}

/* One setting of a preset. The preset's names and values are right: a test walks
 * them. */
static void
preset_field (gpointer data, const gchar *name, const gchar *value)
{
  const Presetting *presetting = data;
  const Property *property = find_property (name);

  if (is_set_by_user (presetting->user_set, property) ||
      (presetting->only_mutable && !property->mutable_playing))
    return;
  /* It comes with the preset's fit, which the user replaced by one that has no
   * such thing. */
  if (property->offset == AT (crop_fraction) &&
      presetting->settings->fit == PP_FIT_LETTERBOX)
    return;

  gpointer field = field_of (presetting->settings, property);
  if (property->kind == KIND_LIST)
    set_list (field, value);
  else if (property->kind == KIND_DOUBLE)
    *(gdouble *) field = g_ascii_strtod (value, NULL);
  else if (property->kind == KIND_ENUM)
    *(gint *) field = enum_from_nick (property->values, value);
  else if (property->kind == KIND_BOOLEAN)
    *(gboolean *) field = g_strcmp0 (value, "true") == 0;
  else
    *(gint *) field = (gint) g_ascii_strtoll (value, NULL, 10);
}

gboolean
gst_pp_settings_copy_one (
    GstPpSettings *to, const GstPpSettings *from, const gchar *name)
{
  for (guint i = 0; i < G_N_ELEMENTS (properties); i++) {
    const guint64 bit = G_GUINT64_CONSTANT (1) << i;

    if (g_strcmp0 (properties[i].name, name) != 0)
      continue;
    copy_field (to, from, &properties[i]);
    to->set = (to->set & ~bit) | (from->set & bit);
    return TRUE;
  }
  return FALSE;
}

void
gst_pp_settings_resolve (
    GstPpSettings *to, const GstPpSettings *from, gboolean only_mutable)
{
  Presetting presetting = { to, from->set, only_mutable };

  for (guint i = 0; i < G_N_ELEMENTS (properties); i++)
    if (!only_mutable || properties[i].mutable_playing)
      copy_field (to, from, &properties[i]);
  to->set = from->set;
  gst_pp_preset_foreach (to->preset, preset_field, &presetting);
}
