#include "store/libpq.hpp"

#include "base/dynamic_library.hpp"

#include <zeus/error.hpp>

#include <array>
#include <optional>
#include <string>

namespace zeus::store {

namespace {

Error missing() {
  return {ErrorKind::unavailable, "PostgreSQL's client library is not installed here, or too old",
          "install libpq5 and libsoci-postgresql, or keep jobs in a file"};
}

template <typename Function>
Function* need(const DynamicLibrary& library, const char* name) {
  if (Function* const found = library.function<Function>({name})) {
    return found;
  }
  throw missing();
}

Libpq load() {
  // A program that has SOCI inside it, as in Python's wheel, must not load a back-end, which would bring another SOCI.
  if (!DynamicLibrary::is_loaded(ZEUS_SOCI_CORE)) {
    throw Error{ErrorKind::unavailable, "this zeus has no client of PostgreSQL, because pip installed it",
                "use the Debian package, or keep jobs in a file or in a service"};
  }
  const std::array<std::string, 1> names = {ZEUS_SOCI_POSTGRESQL};
  std::optional<DynamicLibrary> opened = DynamicLibrary::open(names);
  if (!opened) {
    throw missing();
  }
  // Never closed: connections may be open until the process ends.
  static const DynamicLibrary* const open = new DynamicLibrary{*std::move(opened)};
  const DynamicLibrary& library = *open;
  using Factory = const soci::backend_factory*();
  return {
      .conninfo_parse = need<decltype(::PQconninfoParse)>(library, "PQconninfoParse"),
      .conninfo_free = need<decltype(::PQconninfoFree)>(library, "PQconninfoFree"),
      .freemem = need<decltype(::PQfreemem)>(library, "PQfreemem"),
      .connect_start = need<decltype(::PQconnectStart)>(library, "PQconnectStart"),
      .connect_poll = need<decltype(::PQconnectPoll)>(library, "PQconnectPoll"),
      .finish = need<decltype(::PQfinish)>(library, "PQfinish"),
      .status = need<decltype(::PQstatus)>(library, "PQstatus"),
      .socket = need<decltype(::PQsocket)>(library, "PQsocket"),
      .error_message = need<decltype(::PQerrorMessage)>(library, "PQerrorMessage"),
      .connection_needs_password = need<decltype(::PQconnectionNeedsPassword)>(library, "PQconnectionNeedsPassword"),
      .set_error_verbosity = need<decltype(::PQsetErrorVerbosity)>(library, "PQsetErrorVerbosity"),
      .set_notice_processor = need<decltype(::PQsetNoticeProcessor)>(library, "PQsetNoticeProcessor"),
      .soci_backend = need<Factory>(library, "factory_postgresql")(),
  };
}

}  // namespace

const Libpq& libpq() {
  static const Libpq loaded = load();
  return loaded;
}

}  // namespace zeus::store
