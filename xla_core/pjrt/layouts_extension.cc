// The layouts extension of PJRT: in which order the elements of buffers and results lie. A host that finds it
// writes what it wishes into its programs (mhlo.layout_mode).
#include "xla/pjrt/c/pjrt_c_api_layouts_extension.h"

#include "xla_core/pjrt/buffer.h"
#include "xla_core/pjrt/executable.h"
#include "xla_core/pjrt/extensions.h"
#include "xla_core/pjrt/serialized.h"

struct PJRT_Layouts_SerializedLayout : armillary::pjrt::Serialized<PJRT_Layouts_SerializedLayout> {};

namespace armillary::pjrt {
namespace {

std::unique_ptr<PJRT_Layouts_MemoryLayout> layout_of(const Shape& shape) {
  return std::make_unique<PJRT_Layouts_MemoryLayout>(to_string(*shape.layout));
}

void destroy(PJRT_Layouts_MemoryLayout_Destroy_Args& args) { delete args.layout; }

void serialize(PJRT_Layouts_MemoryLayout_Serialize_Args& args) {
  args.serialized_layout = PJRT_Layouts_SerializedLayout::make(
      args.layout->text, args.serialized_bytes, args.serialized_bytes_size, args.serialized_layout_deleter);
}

void of_buffer(PJRT_Layouts_PJRT_Buffer_MemoryLayout_Args& args) {
  args.layout = layout_of(args.buffer->shape).release();
}

// Of a client or a topology: whatever the elements are, arrays are row-major where nobody asks for more.
template <class Args>
void by_default(Args& args) {
  const Shape shape(dtype_of(args.type), Dims(args.dims, args.dims + args.num_dims));
  args.layout = layout_of(with_layout(shape)).release();
}

void of_outputs(PJRT_Layouts_PJRT_Executable_GetOutputLayouts_Args& args) {
  PJRT_Executable& e = *args.executable;
  if (e.layouts.empty())
    for (const Shape& result : e.built->signature.results) {
      e.owned_layouts.push_back(layout_of(result));
      e.layouts.push_back(e.owned_layouts.back().get());
    }
  args.num_outputs = e.layouts.size();
  args.layouts = e.layouts.data();
}

}  // namespace

PJRT_Extension_Base* layouts_extension(PJRT_Extension_Base* next) {
  static PJRT_Layouts_Extension extension = {
      {sizeof(PJRT_Layouts_Extension), PJRT_Extension_Type_Layouts, next},
      guard<destroy>,
      guard<serialize>,
      guard<by_default<PJRT_Layouts_PJRT_Client_GetDefaultLayout_Args>>,
      guard<of_buffer>,
      guard<by_default<PJRT_Layouts_PJRT_Topology_GetDefaultLayout_Args>>,
      guard<of_outputs>};
  return &extension.base;
}

}  // namespace armillary::pjrt
