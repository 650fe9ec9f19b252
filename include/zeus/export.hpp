// Marks what libzeus.so shows to its users; everything else is hidden inside it.
#pragma once

#define ZEUS_API __attribute__((visibility("default")))
