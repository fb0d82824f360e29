#!/usr/bin/env bash
# The README's first command as a newcomer runs it: HEAD in an empty folder, nothing installed, an empty npm cache, the
# machine's own Node.js. Starts twice on the same data and stops once by SIGTERM and once by Ctrl-C.
# Prints what it does; ends with an error when something is not as the README says.
set -u -o pipefail
set -m # background jobs get a process group of their own, so that Ctrl-C can be sent to one

root=$(cd "$(dirname "$0")/../.." && pwd)
work=$(mktemp -d)
clone=$work/clone
data=$work/data
out=$work/out.txt
err=$work/err.txt
job=''
failures=0

say() { printf '%s\n' "- $*"; }
bad() { printf '%s\n' "- NOT SO: $*"; failures=$((failures + 1)); }
now() { date +%s%3N; }

# Processes that work in the folders of this run.
ours() {
  local link place
  for link in /proc/[0-9]*/cwd; do
    place=$(readlink "$link" 2>/dev/null) || continue
    case $place in "$work"*) basename "$(dirname "$link")" ;; esac
  done
}

finish() {
  local pid
  cd / || true
  [ -n "$job" ] && kill -KILL -- "-$job" 2>/dev/null
  for pid in $(ours); do kill -KILL "$pid" 2>/dev/null; done
  rm -rf "$work"
}
trap finish EXIT
trap 'exit 1' INT TERM

# Without the checkout's own programs on the path, and without credentials or addresses of whoever runs this.
path=$(printf '%s' "$PATH" | tr ':' '\n' | grep -v 'node_modules/.bin' | paste -sd: -)
[ -x /usr/bin/node ] && path=/usr/bin:$path
cache=$work/npm-cache
export HOLDFAST_DATA=$data HOLDFAST_MANAGEMENT=127.0.0.1:0 HOLDFAST_S3=127.0.0.1:0 HOLDFAST_S3_HTTP=127.0.0.1:0
unset HOLDFAST_ADMIN_PASSWORD AWS_ACCESS_KEY_ID AWS_SECRET_ACCESS_KEY AWS_SESSION_TOKEN AWS_PROFILE NODE_OPTIONS
# What the npm that runs this script left in the environment is not a newcomer's.
for name in $(env | grep -o '^npm_[A-Za-z0-9_]*' || true); do
  case $name in npm_config_registry | npm_config_cafile | npm_config_proxy | npm_config_https_proxy | npm_config_noproxy) ;;
  *) unset "$name" ;; esac
done

start() {
  : > "$out"
  : > "$err"
  (cd "$clone" && PATH=$path npm_config_cache=$cache exec npm start) > "$out" 2> "$err" &
  job=$!
}

# Waits for the announcement; gives up when the process ends or after so many seconds.
ready() {
  local until=$(($(now) + $1 * 1000))
  while ! grep -q 'in a browser' "$out"; do
    kill -0 "$job" 2>/dev/null || return 1
    [ "$(now)" -gt "$until" ] && return 1
    sleep 0.05
  done
}

# Sends a signal to a process, or with a minus to its group; tells the exit code in $code.
stop() {
  kill "-$1" -- "$2"
  wait "$job"
  code=$?
  job=''
  local until=$(($(now) + 5000))
  while [ -n "$(ours)" ] && [ "$(now)" -lt "$until" ]; do sleep 0.05; done
  if [ -n "$(ours)" ]; then bad "processes are left after $1: $(ours | tr '\n' ' ')"; else say "No process is left."; fi
}

shows() { if grep -qE -- "$2" "$out"; then say "The output shows $1."; else bad "the output shows $1"; fi; }
value() { sed -n "s/^ *$1  *//p" "$out" | head -n 1; }

say "Cloning HEAD of $(git -C "$root" rev-parse --short HEAD) into an empty folder."
git clone -q "file://$root" "$clone" || exit 1
say "Node.js on the path: $(PATH=$path node --version 2>/dev/null || echo none); npm $(PATH=$path npm --version 2>/dev/null || echo none)."
if grep -qE '"resolved":|registry\.' "$clone/package-lock.json"; then
  bad 'package-lock.json names no hosts'
else
  say 'package-lock.json names no hosts.'
fi

say 'npm start, with an empty npm cache. It installs what is missing.'
from=$(now)
start
if ! ready 150; then
  wait "$job"
  say 'It did not start with an empty cache; trying once with the cache of this user.'
  tail -n 5 "$err"
  cache=$(PATH=$path npm config get cache)
  rm -rf "$clone/node_modules"
  start
  if ! ready 150; then
    bad 'npm start ends with a ready cluster'
    tail -n 20 "$out" "$err"
    exit 1
  fi
fi
say "Ready after $(($(now) - from)) ms, the installation included."
shows 'the management address' '^ +Management +https://127\.0\.0\.1:[0-9]+$'
shows 'the S3 address' '^ +S3 +https://127\.0\.0\.1:[0-9]+$'
shows 'the S3 address without TLS' '^ +S3 without TLS +http://127\.0\.0\.1:[0-9]+$'
shows 'the file of the credentials' '^ +Credentials +/'
shows 'a curl command' "^ +\\. '.*' && curl -k -u \"admin:"
shows 'an aws command' ' aws --endpoint-url '
shows 'an address for the browser' 'in a browser: https://'
credentials=$(value Credentials)
secret_of() { sed -n "s/^export $1='\(.*\)'$/\1/p" "$credentials"; }
password=$(secret_of HOLDFAST_ADMIN_PASSWORD)
access=$(secret_of AWS_ACCESS_KEY_ID)
secret=$(secret_of AWS_SECRET_ACCESS_KEY)
for each in "$password" "$access" "$secret"; do
  if [ -z "$each" ] || grep -qF -- "$each" "$out" "$err"; then bad 'credentials are in their file, and not in the output'; fi
done
[ "$(stat -c %a "$credentials")" = 600 ] || bad 'only its owner can read the file of the credentials'
management=$(sed -n 's/.*"management":"\([^"]*\)".*/\1/p' "$data/endpoints.json")
[ "$(value Management)" = "$management" ] || bad 'endpoints.json has the address that was printed'
# The main process, not the launcher: numbers of processes begin anew, so their order tells nothing.
main=$(for pid in $(ours); do tr '\0' ' ' < "/proc/$pid/cmdline" | grep -q 'holdfast\.[jt]s start' && echo "$pid"; done | tail -n 1)
running=$(tr '\0' ' ' < "/proc/$main/cmdline" 2>/dev/null | cut -d' ' -f1)
say "The cluster runs on $("$running" --version 2>/dev/null)."
case $("$running" --version 2>/dev/null) in v24.*) ;; *) bad 'the cluster runs on Node 24' ;; esac

volumes() { curl -sk -u "admin:$password" "$(value Management)/api/storage/volumes?fields=name,uuid"; }
records() { grep -o '"\(name\|uuid\)":"[^"]*"' | sort; }
if command -v curl > /dev/null; then
  say 'Running the printed curl command.'
  printed=$(sed -n 's/^ *\(.* && curl -k .*\)$/\1/p' "$out")
  answer=$(bash -c "${printed/curl /curl -s }")
  case $answer in *'"name":"vol1"'*) say 'It lists the volume vol1.' ;; *) bad "it lists the volume vol1: $answer" ;; esac
  before=$(volumes | records)
else
  say 'curl is not installed: the printed command was not run.'
fi
if [ -x /usr/bin/aws ]; then
  say 'Running the printed aws command.'
  printed=$(sed -n 's/^ *\(.* && AWS_DEFAULT_REGION=.* aws .*\)$/\1/p' "$out")
  PATH=/usr/bin:$path bash -c "$printed" > "$work/aws.txt" 2>&1 || bad "it makes a bucket: $(cat "$work/aws.txt")"
fi

say 'Stopping with SIGTERM.'
stop TERM "$job"
if [ "$code" -eq 0 ]; then say 'It ended with 0.'; else bad "it ended with $code, not 0"; fi

say 'npm start again, on the same data.'
from=$(now)
start
ready 30 || { bad 'the second start ends with a ready cluster'; tail -n 20 "$out" "$err"; exit 1; }
say "Ready after $(($(now) - from)) ms. The aim is less than 3000."
if grep -qE 'Password|Secret key|Credentials' "$out"; then bad 'the second start shows no credentials'; else say 'It shows no credentials.'; fi
if command -v curl > /dev/null; then
  if [ "$(volumes | records)" = "$before" ] && [ -n "$before" ]; then say 'The volumes are the same.'; else bad 'the volumes are the same'; fi
fi
if [ -x /usr/bin/aws ]; then
  listed=$(AWS_ACCESS_KEY_ID=$access AWS_SECRET_ACCESS_KEY=$secret AWS_DEFAULT_REGION=us-east-1 \
    /usr/bin/aws --endpoint-url "$(value 'S3 without TLS')" s3 ls 2>&1)
  case $listed in *first*) say 'The bucket is there.' ;; *) bad "the bucket is there: $listed" ;; esac
fi

say 'Stopping with Ctrl-C, which reaches every process of the terminal.'
stop INT "-$job"
# npm itself may end by the signal (130) after the cluster ended in order.
if [ "$code" -eq 0 ] || [ "$code" -eq 130 ]; then say "It ended with $code."; else bad "it ended with $code"; fi
if grep -q '"Stopped\."' "$err"; then say 'The cluster ended in order.'; else bad 'the cluster ended in order'; fi

if [ "$failures" -gt 0 ]; then
  printf '%s\n' "$failures of these are not as the README says."
  exit 1
fi
say 'All as the README says.'
