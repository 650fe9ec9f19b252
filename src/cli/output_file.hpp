// A file that a person has named for results, or `-` for standard output. What lies there already is respected: a plain
// file, also behind links, is replaced whole or not at all; a device or a pipe is written to where it is. Made before
// the work whose results it takes, so that hours do not end in a path that cannot be written. One thread; `out`
// outlives it.
#pragma once

#include "base/file_descriptor.hpp"
#include "base/file_tree.hpp"

#include <filesystem>
#include <iosfwd>
#include <memory>
#include <string>
#include <string_view>

namespace zeus::cli {

// A pipe to write to, once somebody reads it: the usual way of opening would wait for ever. After two seconds it is an
// Error. `name` is what it is called there.
FileDescriptor open_pipe(const std::filesystem::path& pipe, const std::string& name);

class OutputFile {
 public:
  // Finds out whether it can be written, and changes nothing that is there; an Error when it cannot. Missing folders
  // are made. A reader of a pipe is waited for two seconds.
  OutputFile(std::string name, std::ostream& out, Readers readers = Readers::everyone);

  // The whole content; a second time it replaces the first where that can be.
  void write(std::string_view content) const;

 private:
  enum class Place {
    standard_output,
    plain_file,  // or nothing yet
    own_stream,  // the file that our own output goes to already
    as_it_is,    // a device or a pipe
  };

  std::string name_;
  std::ostream& out_;
  Readers readers_;
  Place place_ = Place::standard_output;
  int stream_ = -1;                             // of own_stream
  std::shared_ptr<const FileDescriptor> pipe_;  // held from the beginning on: its reader would see an end otherwise
  std::filesystem::path file_;                  // with links followed
};

}  // namespace zeus::cli
