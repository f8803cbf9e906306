/*
 * P4 has no arrays that suit one register a value, so the preprocessor writes the program
 * out: EACH_VALUE(DO) is DO(00) DO(01) ... with one hexadecimal number for each of the
 * ELEMENTS values in a packet.
 */

#ifndef ELEMENTS
#define ELEMENTS 32
#endif

#define SIXTEEN_VALUES(DO, row) \
    DO(row##0) DO(row##1) DO(row##2) DO(row##3) DO(row##4) DO(row##5) DO(row##6) DO(row##7) \
    DO(row##8) DO(row##9) DO(row##A) DO(row##B) DO(row##C) DO(row##D) DO(row##E) DO(row##F)

#define VALUES_32(DO) SIXTEEN_VALUES(DO, 0) SIXTEEN_VALUES(DO, 1)
#define VALUES_64(DO) VALUES_32(DO) SIXTEEN_VALUES(DO, 2) SIXTEEN_VALUES(DO, 3)
#define VALUES_128(DO) VALUES_64(DO) \
    SIXTEEN_VALUES(DO, 4) SIXTEEN_VALUES(DO, 5) SIXTEEN_VALUES(DO, 6) SIXTEEN_VALUES(DO, 7)
#define VALUES_256(DO) VALUES_128(DO) \
    SIXTEEN_VALUES(DO, 8) SIXTEEN_VALUES(DO, 9) SIXTEEN_VALUES(DO, A) SIXTEEN_VALUES(DO, B) \
    SIXTEEN_VALUES(DO, C) SIXTEEN_VALUES(DO, D) SIXTEEN_VALUES(DO, E) SIXTEEN_VALUES(DO, F)

// SIZE_CODE is what the packet's size field says for this many values.
#if ELEMENTS == 32
#define EACH_VALUE(DO) VALUES_32(DO)
#define SIZE_CODE 0
#elif ELEMENTS == 64
#define EACH_VALUE(DO) VALUES_64(DO)
#define SIZE_CODE 1
#elif ELEMENTS == 128
#define EACH_VALUE(DO) VALUES_128(DO)
#define SIZE_CODE 2
#elif ELEMENTS == 256
#define EACH_VALUE(DO) VALUES_256(DO)
#define SIZE_CODE 3
#else
#error ELEMENTS must be 32, 64, 128 or 256
#endif
