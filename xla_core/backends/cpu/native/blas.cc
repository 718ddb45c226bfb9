#include "xla_core/backends/cpu/native/blas.h"

#include <dlfcn.h>

#include <atomic>
#include <cstdlib>
#include <mutex>

namespace armillary::native {
namespace {

std::mutex g_mutex;
std::atomic<void*> g_library{nullptr};

void* find(void* library, const std::string& name) {
  // Wheels of scipy-openblas rename every symbol so that two copies can live in one process.
  if (void* symbol = dlsym(library, ("scipy_" + name).c_str())) return symbol;
  return dlsym(library, name.c_str());
}

}  // namespace

bool load_blas(const std::string& path) {
  std::lock_guard<std::mutex> lock(g_mutex);
  if (g_library.load() != nullptr) return true;
  void* library = dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (library == nullptr) return false;
  if (find(library, "cblas_sgemm") == nullptr || find(library, "spotrf_") == nullptr) {
    dlclose(library);
    return false;
  }
  g_library = library;
  return true;
}

bool blas_loaded() {
  static const bool tried = [] {
    if (const char* path = std::getenv("ARMILLARY_BLAS")) return load_blas(path);
    return false;
  }();
  (void)tried;
  return g_library.load() != nullptr;
}

void* blas_symbol(const std::string& name) {
  void* library = blas_loaded() ? g_library.load() : nullptr;
  return library ? find(library, name) : nullptr;
}

}  // namespace armillary::native
