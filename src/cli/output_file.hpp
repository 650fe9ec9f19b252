// A file for results that a user has named, or `-` for standard output. A plain file, also behind links, is replaced
// whole or not at all; a device or a pipe is written to in place. Constructed before the work begins, so that hours of
// work do not end at a path that cannot be written. One thread; `out` outlives it.
#pragma once

#include "base/file_descriptor.hpp"
#include "base/file_tree.hpp"

#include <filesystem>
#include <iosfwd>
#include <memory>
#include <string>
#include <string_view>

namespace zeus::cli {

// A pipe to write to, once it has a reader: an ordinary open would wait without end. Without a reader within two
// seconds it throws. `name` is the pipe's name in the message.
FileDescriptor open_pipe(const std::filesystem::path& pipe, const std::string& name);

// A file to which lines are added as the work goes on, each at its end. `header` begins a file that is new or empty;
// another one must begin with it. If our own output already goes to the file, that is what is written to: flush it
// before each write. Makes missing folders; a pipe is as for open_pipe.
FileDescriptor open_to_append(const std::string& name, std::string_view header);

class OutputFile {
 public:
  // Checks without changing the file whether it can be written, and throws if it cannot. Makes missing folders. Waits
  // up to two seconds for the reader of a pipe.
  OutputFile(std::string name, std::ostream& out, Readers readers = Readers::everyone);

  // Writes the whole content. A second call replaces the first content if the file allows it.
  void write(std::string_view content) const;

 private:
  enum class Place {
    standard_output,
    plain_file,  // or no file yet
    own_stream,  // our own output already goes to this file
    as_it_is,    // a device or a pipe
  };

  std::string name_;
  std::ostream& out_;
  Readers readers_;
  Place place_ = Place::standard_output;
  int stream_ = -1;                             // of own_stream
  std::shared_ptr<const FileDescriptor> pipe_;  // open from the start: its reader would otherwise see an end
  std::filesystem::path file_;                  // with links followed
};

}  // namespace zeus::cli
