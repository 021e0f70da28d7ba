/* test_http_tls.c -- a server is believed only if its certificate holds. Certificate
 * and server are openssl's own, made anew for each test. */
#define _POSIX_C_SOURCE 200809L

#include <fcntl.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include "plugin.h"

#define OK_ANSWER "HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n"

/* "openssl s_server" with a certificate for `name`. Whatever comes in, it sends what
 * stands on its standard input. */
struct tls_server {
    char folder[FOLDER_SIZE], certificate[128], key[128], url[64];
    pid_t pid;
    int input, output;
};

static pid_t spawn(const char *const *arguments, int input, int output)
{
    pid_t pid = fork();

    if (pid != 0)
        return pid;
    int nowhere = open("/dev/null", O_WRONLY);
    dup2(input >= 0 ? input : nowhere, STDIN_FILENO);
    dup2(output >= 0 ? output : nowhere, STDOUT_FILENO);
    dup2(nowhere, STDERR_FILENO);
    execvp(arguments[0], (char *const *)(uintptr_t)arguments);
    _exit(127);
}

static void make_certificate(struct tls_server *server, const char *name)
{
    char names[128];
    int status = 0;

    snprintf(names, sizeof(names), "subjectAltName=%s", name);
    const char *arguments[] = {
        "openssl",
        "req",
        "-x509",
        "-newkey",
        "ec",
        "-pkeyopt",
        "ec_paramgen_curve:prime256v1",
        "-nodes",
        "-days",
        "2",
        "-subj",
        "/CN=test",
        "-addext",
        names,
        "-keyout",
        server->key,
        "-out",
        server->certificate,
        NULL,
    };
    pid_t pid = spawn(arguments, -1, -1);
    assert_int_equal(waitpid(pid, &status, 0), pid);
    assert_int_equal(status, 0); /* is the program openssl installed? */
}

/* It tells its port as "ACCEPT 127.0.0.1:PORT". */
static void read_port(struct tls_server *server)
{
    char text[512] = "";
    size_t size = 0;

    while (!strstr(text, "ACCEPT") || !strchr(strstr(text, "ACCEPT"), '\n')) {
        ssize_t got = read(server->output, text + size, sizeof(text) - 1 - size);
        assert_true(got > 0);
        size += (size_t)got;
        text[size] = '\0';
    }
    const char *address = strstr(text, "ACCEPT") + strlen("ACCEPT ");
    assert_memory_equal(address, "127.0.0.1:", 10);
    snprintf(server->url, sizeof(server->url), "https://%.*s/",
             (int)strcspn(address, "\n"), address);
}

static void tls_server_start(struct tls_server *server, const char *name,
                             const char *version)
{
    int input[2], output[2];

    folder_make(server->folder);
    snprintf(server->certificate, sizeof(server->certificate), "%s/cert.pem",
             server->folder);
    snprintf(server->key, sizeof(server->key), "%s/key.pem", server->folder);
    make_certificate(server, name);
    const char *arguments[] = {
        "openssl", "s_server",          "-accept", "127.0.0.1:0",
        "-cert",   server->certificate, "-key",    server->key,
        "-cipher", "ALL:@SECLEVEL=0",   version,   NULL,
    };
    assert_int_equal(pipe(input), 0);
    assert_int_equal(pipe(output), 0);
    server->pid = spawn(arguments, input[0], output[1]);
    close(input[0]);
    close(output[1]);
    server->input = input[1];
    server->output = output[0];
    read_port(server);
    assert_int_equal(write(server->input, OK_ANSWER, strlen(OK_ANSWER)),
                     strlen(OK_ANSWER));
}

static void tls_server_stop(struct tls_server *server)
{
    kill(server->pid, SIGKILL);
    waitpid(server->pid, NULL, 0);
    close(server->input);
    close(server->output);
    folder_remove(server->folder);
}

/* Debian's own settings refuse old TLS already; for these tests only the sink may. Read
 * once by OpenSSL, at its first use. */
static void relax_openssl(const struct tls_server *server)
{
    char path[128];

    snprintf(path, sizeof(path), "%s/openssl.cnf", server->folder);
    FILE *file = fopen(path, "w");
    assert_non_null(file);
    fputs("openssl_conf = all\n[all]\nssl_conf = ssl\n[ssl]\nsystem_default = lax\n"
          "[lax]\nMinProtocol = TLSv1\nCipherString = DEFAULT@SECLEVEL=0\n",
          file);
    fclose(file);
    setenv("OPENSSL_CONF", path, 1);
}

/* One post to a server with a certificate for `name`. */
static enum trail_status post(const char *name, const char *version, int trust,
                              struct trail_error *err)
{
    struct option_set options = { 0 };
    struct tls_server server;

    tls_server_start(&server, name, version);
    const struct trail_sink *sink = plugin_load("http");
    relax_openssl(&server);
    option_text(&options, "url", server.url);
    if (trust)
        option_text(&options, "ca_file", server.certificate);
    void *state = state_of(sink, &options);
    enum trail_status status = write_one(sink, state, TRAIL_STYLE_JSON, "{}", err);
    sink->destroy(state);
    unsetenv("OPENSSL_CONF");
    tls_server_stop(&server);
    return status;
}

static void a_certificate_nobody_vouches_for_is_refused(void **unused)
{
    (void)unused;
    struct trail_error err = { "" };

    assert_int_equal(post("IP:127.0.0.1", "-tls1_3", 0, &err), TRAIL_RETRY);
    assert_contains(err.text, "TLS: its certificate is refused");
    assert_contains(err.text, "self-signed certificate");
    assert_contains(err.text, "ca_file");
}

static void a_certificate_from_ca_file_is_accepted(void **unused)
{
    (void)unused;
    struct trail_error err = { "" };

    assert_ok_err(post("IP:127.0.0.1", "-tls1_3", 1, &err), err);
    assert_ok_err(post("IP:127.0.0.1", "-tls1_2", 1, &err), err);
}

static void a_certificate_for_another_host_is_refused(void **unused)
{
    (void)unused;
    struct trail_error err = { "" };

    assert_int_equal(post("DNS:other.example", "-tls1_3", 1, &err), TRAIL_RETRY);
    assert_contains(err.text, "TLS: its certificate is refused");
    assert_contains(err.text, "127.0.0.1");
}

static void tls_older_than_1_2_is_refused(void **unused)
{
    (void)unused;
    struct trail_error err = { "" };

    assert_int_equal(post("IP:127.0.0.1", "-tls1_1", 1, &err), TRAIL_RETRY);
    assert_contains(err.text, "TLS: no handshake");
}

static const struct CMUnitTest tests[] = {
    cmocka_unit_test(a_certificate_nobody_vouches_for_is_refused),
    cmocka_unit_test(a_certificate_from_ca_file_is_accepted),
    cmocka_unit_test(a_certificate_for_another_host_is_refused),
    cmocka_unit_test(tls_older_than_1_2_is_refused),
};

TRAIL_TEST_MAIN(tests)
