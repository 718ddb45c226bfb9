// The plugin in a process without Python: load it, compile a program, run it, read the result.
#include <dlfcn.h>
#include <gtest/gtest.h>

#include <cstring>
#include <fstream>
#include <iterator>
#include <random>
#include <string>
#include <vector>

#include "xla/pjrt/c/pjrt_c_api.h"

namespace {

std::string read(const char* variable) {
  std::ifstream file(std::getenv(variable), std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

const PJRT_Api* api() {
  static const PJRT_Api* table = [] {
    void* library = dlopen(std::getenv("PLUGIN"), RTLD_NOW | RTLD_LOCAL);
    if (library == nullptr) throw std::runtime_error(dlerror());
    return reinterpret_cast<const PJRT_Api* (*)()>(dlsym(library, "GetPjrtApi"))();
  }();
  return table;
}

template <class Args>
Args make() {
  Args args = {};
  args.struct_size = sizeof(Args);
  return args;
}

// The message of an error, which is destroyed; empty when there is none.
std::string message(PJRT_Error* error) {
  if (error == nullptr) return {};
  auto args = make<PJRT_Error_Message_Args>();
  args.error = error;
  api()->PJRT_Error_Message(&args);
  std::string text(args.message, args.message_size);
  auto destroy = make<PJRT_Error_Destroy_Args>();
  destroy.error = error;
  api()->PJRT_Error_Destroy(&destroy);
  return text;
}

#define CALL(name, args) ASSERT_EQ(message(api()->name(&args)), "")

class Plugin : public testing::Test {
 protected:
  void SetUp() override {
    auto args = make<PJRT_Client_Create_Args>();
    CALL(PJRT_Client_Create, args);
    client_ = args.client;
    auto devices = make<PJRT_Client_AddressableDevices_Args>();
    devices.client = client_;
    CALL(PJRT_Client_AddressableDevices, devices);
    device_ = devices.addressable_devices[0];
  }
  void TearDown() override {
    auto args = make<PJRT_Client_Destroy_Args>();
    args.client = client_;
    CALL(PJRT_Client_Destroy, args);
  }

  std::string compile(std::string code, std::string format, PJRT_LoadedExecutable** out) {
    auto program = make<PJRT_Program>();
    program.code = code.data();
    program.code_size = code.size();
    program.format = format.data();
    program.format_size = format.size();
    auto args = make<PJRT_Client_Compile_Args>();
    args.client = client_;
    args.program = &program;
    const std::string error = message(api()->PJRT_Client_Compile(&args));
    if (out != nullptr) *out = args.executable;
    return error;
  }

  PJRT_Client* client_ = nullptr;
  PJRT_Device* device_ = nullptr;
};

TEST_F(Plugin, every_function_is_there) {
  const auto* first = reinterpret_cast<void* const*>(&api()->PJRT_Error_Destroy);
  const auto* last = reinterpret_cast<void* const*>(&api()->PJRT_Event_Set);
  for (const auto* f = first; f <= last; ++f) EXPECT_NE(*f, nullptr) << "function " << f - first;
}

TEST_F(Plugin, what_is_missing_says_its_name) {
  auto args = make<PJRT_CopyToDeviceStream_Destroy_Args>();
  EXPECT_NE(message(api()->PJRT_CopyToDeviceStream_Destroy(&args)).find("PJRT_CopyToDeviceStream_Destroy"),
            std::string::npos);
}

class Format : public Plugin, public testing::WithParamInterface<std::pair<const char*, const char*>> {};
INSTANTIATE_TEST_SUITE_P(Both, Format,
                         testing::Values(std::pair("ARTIFACT", "mlir"), std::pair("HLO", "hlo")));

TEST_P(Format, a_program_runs) {
  PJRT_LoadedExecutable* executable = nullptr;
  ASSERT_EQ(compile(read(GetParam().first), GetParam().second, &executable), "");
  std::vector<float> values = {1, 2, 3, 4}, result(4);
  const int64_t dims[] = {4};
  auto from = make<PJRT_Client_BufferFromHostBuffer_Args>();
  from.client = client_;
  from.data = values.data();
  from.type = PJRT_Buffer_Type_F32;
  from.dims = dims;
  from.num_dims = 1;
  from.device = device_;
  CALL(PJRT_Client_BufferFromHostBuffer, from);

  auto options = make<PJRT_ExecuteOptions>();
  PJRT_Buffer* outputs[1] = {};
  PJRT_Buffer* const* arguments = &from.buffer;
  PJRT_Buffer** output_list = outputs;
  auto run = make<PJRT_LoadedExecutable_Execute_Args>();
  run.executable = executable;
  run.options = &options;
  run.argument_lists = &arguments;
  run.num_devices = 1;
  run.num_args = 1;
  run.output_lists = &output_list;
  CALL(PJRT_LoadedExecutable_Execute, run);

  auto to = make<PJRT_Buffer_ToHostBuffer_Args>();
  to.src = outputs[0];
  to.dst = result.data();
  to.dst_size = sizeof(float) * result.size();
  CALL(PJRT_Buffer_ToHostBuffer, to);
  auto wait = make<PJRT_Event_Await_Args>();
  wait.event = to.event;
  CALL(PJRT_Event_Await, wait);
  EXPECT_EQ(result, std::vector<float>({3, 5, 7, 9}));

  for (PJRT_Event* event : {to.event, from.done_with_host_buffer}) {
    auto destroy = make<PJRT_Event_Destroy_Args>();
    destroy.event = event;
    CALL(PJRT_Event_Destroy, destroy);
  }
  for (PJRT_Buffer* buffer : {from.buffer, outputs[0]}) {
    auto destroy = make<PJRT_Buffer_Destroy_Args>();
    destroy.buffer = buffer;
    CALL(PJRT_Buffer_Destroy, destroy);
  }
  auto destroy = make<PJRT_LoadedExecutable_Destroy_Args>();
  destroy.executable = executable;
  CALL(PJRT_LoadedExecutable_Destroy, destroy);
}

TEST_F(Plugin, damaged_programs_are_errors) {
  const std::string artifact = read("ARTIFACT");
  std::mt19937 random(1);
  for (int round = 0; round < 2000; ++round) {
    std::string damaged = artifact;
    for (unsigned n = random() % 4 + 1; n > 0; --n)
      damaged[random() % damaged.size()] = static_cast<char>(random());
    if (round % 5 == 0) damaged.resize(random() % damaged.size());
    PJRT_LoadedExecutable* executable = nullptr;
    if (!compile(damaged, "mlir", &executable).empty()) continue;
    auto destroy = make<PJRT_LoadedExecutable_Destroy_Args>();  // some damage is to names only
    destroy.executable = executable;
    CALL(PJRT_LoadedExecutable_Destroy, destroy);
  }
  EXPECT_NE(compile("ML\xefR", "mlir", nullptr), "");
  EXPECT_NE(compile("\xff\xfe", "mlir", nullptr).find("neither"), std::string::npos);
  EXPECT_NE(compile("", "hlo", nullptr), "");
  EXPECT_NE(compile("x", "cuda", nullptr), "");
}

TEST_F(Plugin, an_old_caller_is_told_so) {
  auto args = make<PJRT_Client_Devices_Args>();
  args.struct_size = 8;
  args.client = client_;
  EXPECT_NE(message(api()->PJRT_Client_Devices(&args)).find("older"), std::string::npos);
}

}  // namespace
