"""An S3 endpoint for the tests: moto's server on loopback, and proxies in front of it that can fail."""

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
# The keys in a page of a list; AWS returns 1,000.
PAGE_KEYS = 20


class Moto:
    """A server that implements the S3 protocol in memory."""

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
        """Creates a user with all permissions in S3, and returns its keys."""
        iam = self.client("iam")
        iam.create_user(UserName="exporter")
        policy = {"Version": "2012-10-17", "Statement": [{"Effect": "Allow", "Action": "s3:*", "Resource": "*"}]}
        iam.put_user_policy(UserName="exporter", PolicyName="all", PolicyDocument=json.dumps(policy))
        key = iam.create_access_key(UserName="exporter")["AccessKey"]
        return key["AccessKeyId"], key["SecretAccessKey"]

    def verify_signatures(self, verify=True):
        """Turns the verification of keys, signatures and policies on or off."""
        request = urllib.request.Request(f"{self.url}/moto-api/reset-auth", data=b"0" if verify else b"inf",
                                         headers={"Content-Type": "text/plain"})
        urllib.request.urlopen(request).close()

    def stop(self):
        self.process.send_signal(signal.SIGKILL)
        self.process.wait(timeout=10)


class Proxy:
    """Forwards connections to a port; after `cut`, none is accepted until `restore`."""

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
        """Copies in both directions until either side closes."""
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
        # Closing the listener alone does not wake the thread that waits in accept().
        self.listener.shutdown(socket.SHUT_RDWR)
        self.listener.close()
        with self.lock:
            for connection in self.connections:
                try:
                    connection.shutdown(socket.SHUT_RDWR)
                except OSError:
                    pass  # already closed
            self.connections.clear()

    def restore(self):
        self.listener = self.listen(self.port)


class SilentBucketProxy:
    """Forwards requests to a port, but leaves those for one bucket unanswered until it is closed."""

    def __init__(self, port, silent_bucket):
        self.target = port
        self.silent_bucket = silent_bucket.encode()
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
        if self.silent_bucket in first.split(b"\r\n")[0]:
            self.held.append(near)
            return
        with near, socket.create_connection(("127.0.0.1", self.target)) as far:
            far.sendall(first)
            threading.Thread(target=copy_bytes, args=(near, far), daemon=True).start()
            copy_bytes(far, near)

    def close(self):
        self.listener.close()
        for held in self.held:
            held.close()


def copy_bytes(source, into):
    try:
        while piece := source.recv(65536):
            into.sendall(piece)
        into.shutdown(socket.SHUT_WR)
    except OSError:
        pass
