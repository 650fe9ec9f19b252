#include "command_line/program.hpp"

#include "base/printable.hpp"
#include "command_line/bad_usage.hpp"
#include "command_line/command_line.hpp"
#include "command_line/help_text.hpp"

#include <zeus/error.hpp>

#include <fmt/format.h>

#include <cerrno>
#include <exception>
#include <filesystem>
#include <new>
#include <ostream>
#include <system_error>

namespace zeus::command_line {

namespace {

// A command that succeeds otherwise fails if its output was lost, for instance to a full disk or a closed stream.
int with_output_delivered(int code, const CommandSyntax& program, Streams streams) {
  errno = 0;
  if (streams.out.flush() || code != exit_ok) {
    return code;
  }
  const int error = errno;
  streams.err << program.name << ": part of the output was lost: standard output did not accept it"
              << (error != 0 ? ": " + std::generic_category().message(error) : "") << '\n';
  return exit_failure;
}

int perform(const Asked& asked, std::string_view version, std::ostream& out, const Chosen& chosen) {
  switch (asked.what) {
    case Asked::For::help:
      out << help_text(*asked.command);
      return exit_ok;
    case Asked::For::version:
      out << asked.command->name << ' ' << version << '\n';
      return exit_ok;
    case Asked::For::run:
      break;
  }
  return chosen.run();
}

std::string defect(const std::exception& error, const CommandSyntax& program) {
  return fmt::format("{}; this is a defect in {}, please report it", printable(error.what()), program.name);
}

}  // namespace

int run_program(const CommandSyntax& program, std::string_view version, std::span<const std::string> arguments,
                Streams streams, const Chosen& chosen) {
  const auto fail = [&](std::string_view why) {
    streams.err << program.name << ": " << why << '\n';
    return chosen.failure_code();
  };
  const CommandSyntax* command = &program;
  try {
    if (arguments.empty()) {
      streams.out << first_steps(program);
      return with_output_delivered(exit_ok, program, streams);
    }
    const Asked asked = read_command_line(program, arguments);
    command = asked.command;
    return with_output_delivered(perform(asked, version, streams.out, chosen), program, streams);
  } catch (const BadUsage& error) {
    (void)fail(fmt::format("{}; `{} --help` has more", error.what(), command->path));
    return exit_bad_usage;
  } catch (const Error& error) {
    const int code = fail(error.what());
    return error.kind() == ErrorKind::invalid_argument ? exit_bad_usage : code;
  } catch (const std::filesystem::filesystem_error& error) {
    return fail(fmt::format("cannot use {}: {}", in_quotes(error.path1().string()), error.code().message()));
  } catch (const std::bad_alloc&) {
    return fail("there is not enough memory; allow more (`ulimit -v`)");
  } catch (const std::system_error& error) {
    const std::error_condition why = error.code().default_error_condition();
    if (why == std::errc::resource_unavailable_try_again || why == std::errc::not_enough_memory) {
      return fail(
          fmt::format("the system starts no more threads: {}; allow more memory and threads (`ulimit -v`, "
                      "`ulimit -u`)",
                      error.code().message()));
    }
    return fail(defect(error, program));
  } catch (const std::exception& error) {
    return fail(defect(error, program));
  }
}

}  // namespace zeus::command_line
