#include "cli/output_file.hpp"

#include "base/file_descriptor.hpp"
#include "tests/support/temporary_folder.hpp"

#include <zeus/error.hpp>

#include <gtest/gtest.h>

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <fstream>
#include <sstream>
#include <string>

namespace zeus::cli {
namespace {

namespace fs = std::filesystem;

class OutputFileTest : public ::testing::Test {
 protected:
  void write(const fs::path& name, std::string_view content) { OutputFile{name.string(), out_}.write(content); }
  static std::string content(const fs::path& file) {
    std::ostringstream read;
    read << std::ifstream{file}.rdbuf();
    return read.str();
  }
  ErrorKind refusal(const fs::path& name) {
    try {
      const OutputFile output{name.string(), out_};
    } catch (const Error& error) {
      return error.kind();
    }
    ADD_FAILURE() << name << " was not refused";
    return ErrorKind::internal;
  }

  test::TemporaryFolder temporary_;
  fs::path folder_ = temporary_.path();
  std::ostringstream out_;
};

TEST_F(OutputFileTest, AHyphenIsStandardOutput) {
  write("-", "result");
  EXPECT_EQ(out_.str(), "result");
}

TEST_F(OutputFileTest, AFileIsMadeWithItsFoldersAndReplacedWhole) {
  write(folder_ / "a" / "b" / "report", "first and longer");
  write(folder_ / "a" / "b" / "report", "second");
  EXPECT_EQ(content(folder_ / "a" / "b" / "report"), "second");
  EXPECT_EQ(std::distance(fs::directory_iterator{folder_ / "a" / "b"}, {}), 1) << "something was left beside it";
}

TEST_F(OutputFileTest, NothingIsChangedBeforeItIsWritten) {
  write(folder_ / "report", "kept");
  {
    const OutputFile looked_at{(folder_ / "report").string(), out_};
    const OutputFile not_made{(folder_ / "other").string(), out_};
  }
  EXPECT_EQ(content(folder_ / "report"), "kept");
  EXPECT_FALSE(fs::exists(folder_ / "other"));
}

TEST_F(OutputFileTest, LinksAreFollowedAndStay) {
  write(folder_ / "real", "old");
  fs::create_symlink("real", folder_ / "link");
  fs::create_symlink("link", folder_ / "link_to_link");
  write(folder_ / "link_to_link", "new");
  EXPECT_EQ(content(folder_ / "real"), "new");
  EXPECT_TRUE(fs::is_symlink(folder_ / "link"));
  EXPECT_TRUE(fs::is_symlink(folder_ / "link_to_link"));
}

TEST_F(OutputFileTest, ADanglingLinkIsFollowedToo) {
  fs::create_directory(folder_ / "elsewhere");
  fs::create_symlink("elsewhere/report", folder_ / "link");
  write(folder_ / "link", "new");
  EXPECT_EQ(content(folder_ / "elsewhere" / "report"), "new");
  EXPECT_TRUE(fs::is_symlink(folder_ / "link"));
}

TEST_F(OutputFileTest, LinksInACircleAreRefused) {
  fs::create_symlink("b", folder_ / "a");
  fs::create_symlink("a", folder_ / "b");
  EXPECT_EQ(refusal(folder_ / "a"), ErrorKind::invalid_argument);
}

TEST_F(OutputFileTest, APipeIsWrittenToAndStays) {
  const fs::path pipe = folder_ / "pipe";
  ASSERT_EQ(::mkfifo(pipe.c_str(), 0600), 0);
  const FileDescriptor reader{::open(pipe.c_str(), O_RDWR)};
  write(pipe, "through");
  std::array<char, 16> read{};
  EXPECT_EQ(::read(reader.get(), read.data(), read.size()), 7);
  EXPECT_EQ(std::string(read.data()), "through");
  EXPECT_TRUE(fs::is_fifo(pipe));
}

TEST_F(OutputFileTest, InRealTimeAPipeWithoutAReaderIsRefusedBeforeTheWork) {
  const fs::path pipe = folder_ / "pipe";
  ASSERT_EQ(::mkfifo(pipe.c_str(), 0600), 0);
  EXPECT_EQ(refusal(pipe), ErrorKind::unavailable);
}

TEST_F(OutputFileTest, ADeviceIsWrittenToAndStays) {
  EXPECT_NO_THROW(write("/dev/null", "gone"));
  EXPECT_TRUE(fs::is_character_file("/dev/null"));
  EXPECT_THROW(write("/dev/full", "too much"), Error);
  EXPECT_TRUE(fs::is_character_file("/dev/full"));
}

TEST_F(OutputFileTest, AnUnwritableFileIsRefusedBeforeTheWork) {
  EXPECT_EQ(refusal(folder_), ErrorKind::invalid_argument);
  EXPECT_EQ(refusal(""), ErrorKind::invalid_argument);
  std::ofstream{folder_ / "file"}.close();
  EXPECT_NO_THROW(write(folder_ / "file", "ok"));
  EXPECT_NE(refusal(folder_ / "file" / "under_a_file"), ErrorKind::internal);
  EXPECT_NE(refusal("/proc/no_such_folder/report"), ErrorKind::internal);
}

TEST_F(OutputFileTest, AFileToAppendToKeepsWhatItHasAndHasOneHeader) {
  const fs::path file = folder_ / "new" / "rows";
  for (const char* row : {"1\n", "2\n"}) {
    write_all(open_to_append(file.string(), "row\n"), row, "rows");
  }
  EXPECT_EQ(content(file), "row\n1\n2\n");
  write(folder_ / "notes", "other text");
  EXPECT_THROW((void)open_to_append((folder_ / "notes").string(), "row\n"), Error);
  EXPECT_EQ(content(folder_ / "notes"), "other text");
}

TEST_F(OutputFileTest, AMessageNamesTheFileThatTheUserNamed) {
  const std::string name = (folder_ / std::string(250, 'n')).string();
  try {
    const OutputFile output{name, out_};
    FAIL() << "the name is too long with anything added";
  } catch (const Error& error) {
    EXPECT_EQ(error.message(), "cannot write " + name + ": its folder takes no new file: File name too long");
  }
}

}  // namespace
}  // namespace zeus::cli
