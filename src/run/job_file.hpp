// Job files: NAME.toml, a file of TOML with the settings that are flags of `zeus run`. One thread.
#pragma once

#include "base/environment.hpp"
#include "base/file_tree.hpp"
#include "run/job_settings.hpp"

#include <filesystem>
#include <optional>
#include <string>
#include <string_view>

namespace zeus::run {

// Where jobs are looked for by name.
struct JobFolders {
  std::filesystem::path here;  // first, the working folder
  std::optional<std::filesystem::path>
      own;  // then $XDG_CONFIG_HOME/zeus/jobs or ~/.config/zeus/jobs; none without a home folder
};
JobFolders job_folders(const Environment& environment, std::filesystem::path here);

// Reads the text of a job file that is called `file`. Throws an invalid_argument Error, with the place in the file and
// what is expected there, if it is not a job.
JobSettings job_from_toml(std::string_view text, std::string_view file);

// Finds the job `name`, as in `zeus run @name`. Its name is the one in its file, or else the file's. Throws a not_found
// Error without such a file, and an invalid_argument Error if another file of the folder has a job of this name too.
JobSettings find_job(const FileTree& files, const JobFolders& folders, std::string_view name);
// The same for a file given by its path. The job's name is the one in the file, or else `name`, or else the file's.
JobSettings read_job(const FileTree& files, const JobFolders& folders, const std::string& path,
                     std::string_view name = {});

}  // namespace zeus::run
