// PostgreSQL's client library, and SOCI's back-end for it. Loaded when the first address of PostgreSQL is read, because
// most programs keep their jobs in a file, and loading these two with their dependencies nearly doubles a program's
// start. Never unloaded. Any thread.
#pragma once

#include "store/soci.hpp"

#include <libpq-fe.h>

namespace zeus::store {

struct Libpq {
  decltype(&::PQconninfoParse) conninfo_parse;
  decltype(&::PQconninfoFree) conninfo_free;
  decltype(&::PQfreemem) freemem;
  decltype(&::PQconnectStart) connect_start;
  decltype(&::PQconnectPoll) connect_poll;
  decltype(&::PQfinish) finish;
  decltype(&::PQstatus) status;
  decltype(&::PQsocket) socket;
  decltype(&::PQerrorMessage) error_message;
  decltype(&::PQconnectionNeedsPassword) connection_needs_password;
  decltype(&::PQsetErrorVerbosity) set_error_verbosity;
  decltype(&::PQsetNoticeProcessor) set_notice_processor;
  const soci::backend_factory* soci_backend;
};

// An unavailable Error if it is not installed.
const Libpq& libpq();

}  // namespace zeus::store
