#!/bin/sh
# Hosts node1, node2, ... on a switch of their own, for as long as this runs.
# Host i has 10.0.0.i and fd00::i, a name, and an /etc/hosts that gives its own
# name to 127.0.1.1, as Debian's installer writes it.
#
#   unshare --net --mount --pid --fork --mount-proc sh virtual_hosts.sh FOLDER HOSTS
#
# All of it is in these namespaces: it is gone when their first process is.
set -eu
folder=$1 hosts=$2

ip link set lo up
ip link add switch type bridge
ip link set switch up
for i in $(seq "$hosts"); do
  {
    echo "127.0.0.1 localhost"
    for j in $(seq "$hosts"); do
      if [ "$i" = "$j" ]; then echo "127.0.1.1 node$j"; else echo "10.0.0.$j node$j"; fi
    done
  } >"$folder/hosts.$i"
  mkfifo "$folder/pid.$i"
  unshare --net --uts --mount sh -euc '
    hostname "node$2"
    mount --bind "$1/hosts.$2" /etc/hosts
    ip link set lo up
    echo $$ >"$1/pid.$2"
    exec sleep infinity' host "$folder" "$i" &
  read -r pid <"$folder/pid.$i"
  rm "$folder/pid.$i"
  ip link add "port$i" type veth peer name eth0 netns "$pid"
  ip link set "port$i" master switch up
  nsenter --target="$pid" --net sh -euc '
    ip address add "10.0.0.$1/24" dev eth0
    [ ! -e /proc/net/if_inet6 ] || ip address add "fd00::$1/64" dev eth0 nodad
    ip link set eth0 up' host "$i"
  # How one host runs a command on another, as with ssh.
  echo "$pid" >"$folder/pid.$i"
done
echo "the network is up"
exec sleep infinity
