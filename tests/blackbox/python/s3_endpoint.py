"""An S3 endpoint for the tests: moto's server on loopback, and a wire in front of it that can be cut."""

import json
import os
import re
import selectors
import signal
import socket
import subprocess
import sys
import threading
import urllib.request

import boto3

REGION = "us-east-1"
# A page of a list; AWS has 1,000.
PAGE_KEYS = 20


class Moto:
    """A server that speaks the S3 protocol and keeps everything in memory."""

    def __init__(self, certificate=None, key=None):
        self.certificate = certificate
        arguments = ["-H", "127.0.0.1", "-p", "0"] + (["-c", str(certificate), "-k", str(key)] if certificate else [])
        program = f"from moto.server import main; main({arguments})"
        environment = {**os.environ, "MOTO_S3_DEFAULT_MAX_KEYS": str(PAGE_KEYS)}
        self.process = subprocess.Popen([sys.executable, "-c", program], stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True, env=environment)
        for line in self.process.stderr:
            if found := re.search(r"https?://127\.0\.0\.1:(\d+)", line):
                self.url, self.port = found.group(), int(found.group(1))
                break
        threading.Thread(target=self.process.stderr.read, daemon=True).start()

    def client(self, service="s3"):
        return boto3.client(service, endpoint_url=self.url, region_name=REGION, aws_access_key_id="test", aws_secret_access_key="test",
                            verify=self.certificate and str(self.certificate))

    def user(self):
        """The keys of a user who may do everything in S3."""
        iam = self.client("iam")
        iam.create_user(UserName="exporter")
        policy = {"Version": "2012-10-17", "Statement": [{"Effect": "Allow", "Action": "s3:*", "Resource": "*"}]}
        iam.put_user_policy(UserName="exporter", PolicyName="all", PolicyDocument=json.dumps(policy))
        key = iam.create_access_key(UserName="exporter")["AccessKey"]
        return key["AccessKeyId"], key["SecretAccessKey"]

    def verify_signatures(self, verify=True):
        """From now on keys, signatures and policies count."""
        request = urllib.request.Request(f"{self.url}/moto-api/reset-auth", data=b"0" if verify else b"inf",
                                         headers={"Content-Type": "text/plain"})
        urllib.request.urlopen(request).close()

    def stop(self):
        self.process.send_signal(signal.SIGKILL)
        self.process.wait(timeout=10)


class Wire:
    """Passes connections on to a port, until it is cut; then none is accepted until it is mended."""

    def __init__(self, port):
        self.target = port
        self.connections = []
        self.lock = threading.Lock()
        self.listener = self.listen(0)
        self.port = self.listener.getsockname()[1]

    def listen(self, port):
        listener = socket.create_server(("127.0.0.1", port), reuse_port=False)
        threading.Thread(target=self.accept, args=(listener,), daemon=True).start()
        return listener

    @property
    def url(self):
        return f"http://127.0.0.1:{self.port}"

    def accept(self, listener):
        while True:
            try:
                near, _ = listener.accept()
                far = socket.create_connection(("127.0.0.1", self.target))
            except OSError:
                return
            with self.lock:
                self.connections += [near, far]
            threading.Thread(target=self.copy, args=(near, far), daemon=True).start()

    def copy(self, near, far):
        """Both ways until either ends."""
        with selectors.DefaultSelector() as ready:
            ready.register(near, selectors.EVENT_READ, far)
            ready.register(far, selectors.EVENT_READ, near)
            try:
                while True:
                    for key, _ in ready.select():
                        data = key.fileobj.recv(1 << 16)
                        if not data:
                            return
                        key.data.sendall(data)
            except (OSError, ValueError):
                return
            finally:
                near.close()
                far.close()

    def cut(self):
        # A listener that is only closed goes on in the thread that waits in accept().
        self.listener.shutdown(socket.SHUT_RDWR)
        self.listener.close()
        with self.lock:
            for connection in self.connections:
                try:
                    connection.shutdown(socket.SHUT_RDWR)
                except OSError:
                    pass  # it has ended already
            self.connections.clear()

    def mend(self):
        self.listener = self.listen(self.port)


class Choosy:
    """Passes requests on to a port, but leaves those about one bucket without an answer, until it is told to close."""

    def __init__(self, port, silent_about):
        self.target = port
        self.silent_about = silent_about.encode()
        self.held = []
        self.listener = socket.create_server(("127.0.0.1", 0))
        self.url = f"http://127.0.0.1:{self.listener.getsockname()[1]}"
        threading.Thread(target=self.accept, daemon=True).start()

    def accept(self):
        while True:
            try:
                near, _ = self.listener.accept()
            except OSError:
                return
            threading.Thread(target=self.serve, args=(near,), daemon=True).start()

    def serve(self, near):
        first = near.recv(65536)
        if self.silent_about in first.split(b"\r\n")[0]:
            self.held.append(near)
            return
        with near, socket.create_connection(("127.0.0.1", self.target)) as far:
            far.sendall(first)
            threading.Thread(target=pour, args=(near, far), daemon=True).start()
            pour(far, near)

    def close(self):
        self.listener.close()
        for held in self.held:
            held.close()


def pour(source, into):
    try:
        while piece := source.recv(65536):
            into.sendall(piece)
        into.shutdown(socket.SHUT_WR)
    except OSError:
        pass
