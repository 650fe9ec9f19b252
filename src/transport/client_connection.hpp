// One connection to a server, and what is read from it. Waits by poll(), never longer than allowed.
// One thread at a time.
#pragma once

#include "base/file_descriptor.hpp"
#include "transport/channel.hpp"
#include "transport/client.hpp"
#include "transport/message_reader.hpp"

#include <sys/types.h>

#include <memory>
#include <string>
#include <string_view>

namespace zeus::transport {

class ClientConnection {
 public:
  // Connects. Throws unavailable if no server listens there or its channel does not accept it, permission_denied if
  // this user may not, or timeout.
  explicit ClientConnection(const ClientPlan& plan);

  // Whether it belongs to this process, and the server has neither closed it nor sent anything unasked.
  [[nodiscard]] bool is_good() const;
  [[nodiscard]] int descriptor() const { return socket_.get(); }

  // From here on, all waiting together may take this long.
  void allow(Seconds time);
  // False if the server has gone. It may have sent the reason before: read on.
  bool send(std::string_view bytes);
  // Reads once into the reader, and goes on in it as far as that allows. `gone`: nothing more will come. Throws an
  // unavailable Error if the answer may have been cut off.
  enum class Came { more, whole, gone };
  Came receive(AnswerReader& reader);

 private:
  // Waits for what the channel wants; false if it has moved, or never will.
  bool waits(Channel::Now now);

  std::string server_;
  FileDescriptor socket_;
  FileDescriptor timer_;
  std::unique_ptr<Channel> channel_;
  pid_t process_;
};

// The bytes of a request. Throws an invalid_argument Error for contents that would make two requests of it.
std::string request_text(const ClientPlan& plan, const Request& request);

}  // namespace zeus::transport
