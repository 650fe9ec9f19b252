// Jobs that are written down once: a file of TOML, NAME.toml, that says what the flags of `zeus run` would. One thread.
#pragma once

#include "base/environment.hpp"
#include "base/file_tree.hpp"
#include "run/job_settings.hpp"

#include <filesystem>
#include <optional>
#include <string>
#include <string_view>

namespace zeus::run {

// Where jobs are looked for by their names.
struct JobFolders {
  std::filesystem::path here;  // where the user stands, first
  std::optional<std::filesystem::path>
      own;  // then $XDG_CONFIG_HOME/zeus/jobs or ~/.config/zeus/jobs; none without a home
};
JobFolders job_folders(const Environment& environment, std::filesystem::path here);

// The text of a job file, which is called `file`. What is no such job is an invalid_argument Error that names the
// place in the file and says what was meant.
JobSettings job_from_toml(std::string_view text, std::string_view file);

// The job `name`, as in `zeus run @name`. It is called what its file says, or as its file is. Where there is no such
// file that is a not_found Error; where another file of its folder is a job of this name too, an invalid_argument one.
JobSettings find_job(const FileTree& files, const JobFolders& folders, std::string_view name);
// The same of a file that is named by its path; where it does not say what it is called, it is `name`, and without one
// as its file is.
JobSettings read_job(const FileTree& files, const JobFolders& folders, const std::string& path,
                     std::string_view name = {});

}  // namespace zeus::run
