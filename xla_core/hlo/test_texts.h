// What the tests of this room share: the texts of tests/hlo.
#pragma once

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <string>
#include <vector>

namespace armillary {

struct TextFile {
  std::string name, text;
};

// The files of a folder, sorted by name.
inline std::vector<TextFile> texts_of(const std::string& folder) {
  std::vector<TextFile> files;
  for (const auto& entry : std::filesystem::directory_iterator(folder)) {
    std::ifstream in(entry.path());
    std::stringstream text;
    text << in.rdbuf();
    files.push_back({entry.path().filename().string(), text.str()});
  }
  std::sort(files.begin(), files.end(), [](const TextFile& a, const TextFile& b) { return a.name < b.name; });
  return files;
}

inline std::vector<TextFile> texts_in(const std::string& folder) { return texts_of("tests/hlo/" + folder); }

// The modules of a file, cut at lines `// -----`.
inline std::vector<std::string> modules_of(const std::string& text) {
  std::vector<std::string> modules;
  std::string rest = text, cut = "// -----\n";
  for (size_t at; (at = rest.find(cut)) != std::string::npos; rest = rest.substr(at + cut.size()))
    modules.push_back(rest.substr(0, at));
  modules.push_back(rest);
  return modules;
}

}  // namespace armillary
