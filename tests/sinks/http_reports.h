/* http_reports.h -- a report for tests of what is sent: a crash with two threads and an
 * idle one, a program linked at 0 and one at a place of its own. */
#ifndef TEST_SINKS_HTTP_REPORTS_H
#define TEST_SINKS_HTTP_REPORTS_H

#define REPORT_ID "5f0c2a9e7b1d4c3fa8e6d2b19c047e55"

#define CRASH_TRACE                                                                    \
    "{\"backtrail\":1,\"kind\":\"trace\",\"id\":\"" REPORT_ID "\","                    \
    "\"time_ns\":\"1796017212123456789\",\"why\":\"crash\",\"channel\":\"crash\","     \
    "\"app\":{\"name\":\"orders\",\"version\":\"2.3.1\"},"                             \
    "\"process\":{\"pid\":4242,\"os\":\"linux\",\"arch\":\"x86_64\","                  \
    "\"exe\":\"/srv/orders\"},"                                                        \
    "\"signal\":{\"number\":11,\"name\":\"SIGSEGV\",\"code\":1,"                       \
    "\"code_name\":\"SEGV_MAPERR\",\"address\":\"0x0\"},\"epoch\":1,"                  \
    "\"threads\":["                                                                    \
    "{\"tid\":4250,\"name\":\"idle\",\"pcs\":[\"0x7f1204309d90\"]},"                   \
    "{\"tid\":4242,\"name\":\"main\",\"crashed\":true,"                                \
    "\"pcs\":[\"0x55d0c1a011c9\",\"0x7f1204309d90\"],"                                 \
    "\"registers\":{\"rip\":\"0x55d0c1a011c9\"},"                                      \
    "\"trace_id\":\"0af7651916cd43dd8448eb211c80319c\","                               \
    "\"span_id\":\"b7ad6b7169203331\",\"attributes\":{\"queue\":\"eu-1\"}},"           \
    "{\"tid\":4251,\"name\":\"worker\",\"pcs\":[\"0x55d0c1a01240\"]}],"                \
    "\"modules\":["                                                                    \
    "{\"path\":\"/srv/orders\",\"format\":\"elf\",\"arch\":\"x86_64\","                \
    "\"id\":\"a2f26902f19b1e76eca2b1baeda780a93f0d9be1\",\"id_kind\":\"build-id\","    \
    "\"bias\":\"0x55d0c1a00000\","                                                     \
    "\"ranges\":[[\"0x55d0c1a01000\",\"0x55d0c1a06000\",\"r-x\"]],"                    \
    "\"epochs\":[1,null]},"                                                            \
    "{\"path\":\"/lib/libc.so.6\",\"format\":\"elf\",\"arch\":\"x86_64\","             \
    "\"id\":\"\",\"id_kind\":\"none\",\"bias\":\"0x0\","                               \
    "\"ranges\":[[\"0x7f1204300000\",\"0x7f120445b000\",\"r-x\"]],"                    \
    "\"epochs\":[1,null]}],"                                                           \
    "\"attributes\":{\"region\":\"eu\"},"                                              \
    "\"breadcrumbs\":[{\"time_ns\":\"1796017212100000000\","                           \
    "\"text\":\"GET /orders/17\"}],\"complete\":true}"

#define CRASH_REPORT                                                                   \
    "{\"backtrail\":1,\"kind\":\"report\",\"id\":\"" REPORT_ID "\",\"revision\":1,"    \
    "\"resolved_ns\":\"1796017213000000000\",\"trace\":" CRASH_TRACE ","               \
    "\"resolver\":{\"host\":\"edge-7\"},\"threads\":["                                 \
    "{\"tid\":4250,\"frames\":[{\"n\":0,\"address\":\"0x7f1204309d90\","               \
    "\"module\":1,\"function\":\"poll\"}]},"                                           \
    "{\"tid\":4242,\"crashed\":true,\"frames\":["                                      \
    "{\"n\":0,\"inline\":0,\"address\":\"0x55d0c1a011c9\",\"trust\":\"context\","      \
    "\"module\":0,\"function\":\"leaf\",\"file\":\"src/orders.c\","                    \
    "\"dir\":\"/build\",\"line\":3,\"column\":8,\"inlined\":true,\"in_app\":true},"    \
    "{\"n\":0,\"inline\":1,\"address\":\"0x55d0c1a011c9\",\"trust\":\"context\","      \
    "\"module\":0,\"function\":\"Orders::total(int)\","                                \
    "\"linkage\":\"_ZN6Orders5totalEi\",\"symbol\":\"0x55d0c1a011a9\","                \
    "\"file\":\"src/orders.c\",\"dir\":\"/build\",\"line\":9,\"in_app\":true},"        \
    "{\"n\":1,\"address\":\"0x7f1204309d90\",\"trust\":\"cfi\",\"module\":1,"          \
    "\"offset\":\"0x29d90\"},"                                                         \
    "{\"n\":2,\"address\":\"0x7f13\",\"function\":\"_start\","                         \
    "\"hidden\":\"below-main\"}]},"                                                    \
    "{\"tid\":4251,\"frames\":[{\"n\":0,\"address\":\"0x55d0c1a01240\","               \
    "\"module\":0,\"function\":\"work\",\"in_app\":true}]}],"                          \
    "\"fingerprint\":{\"exact\":\"9d3c0a51e2b7744f\",\"group\":\"41f0aa8c5be90d13\"}}"

#endif
