#!/bin/sh
# Prints new secrets of a host: ./new-secrets.sh > secrets.env
# Keep a copy apart from the backups of the database. Without these values it cannot be read, and nobody can sign in.
set -eu
umask 077
hex() { od -An -N32 -tx1 /dev/urandom | tr -d ' \n'; }
echo "KEY_PEPPERS=p1:$(hex)"
echo "SIGNING_KEY_ENCRYPTION_KEY=$(hex)"
echo "DATA_KEYS=d1:$(hex)"
