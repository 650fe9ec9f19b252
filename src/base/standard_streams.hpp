// The standard streams of a program that was started with some of them closed. Called first in main, by one thread.
#pragma once

namespace zeus {

// Takes the numbers 0 to 2 where nobody has them, so that no file that is opened later gets one of them, and with it
// what is meant for the terminal. Reading or writing there fails, as it would have.
void occupy_standard_streams();

}  // namespace zeus
