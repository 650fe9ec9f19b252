// The standard streams of a program that was started with some of them closed. The first call in main, by one thread.
#pragma once

namespace zeus {

// Occupies the numbers 0 to 2 if they are free. Otherwise a file opened later might get one of them, and with it the
// output that is meant for the terminal. Reading or writing there fails, as it would have.
void occupy_standard_streams();

}  // namespace zeus
