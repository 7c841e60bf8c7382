#!/bin/bash
# A docker command line without a daemon, for tests: an image is a folder, a container runs its commands as processes of this machine, and
# the paths of its mounts are put in and taken out as text. $DOCKER_FAKE_STATE holds:
#   images/<name>/      images that are here; rootfs/ in it is what they hold, broken makes them unusable
#   registry/<name>/    images that can be pulled (names with / as _); a file gate in it holds the pull until it is gone
#   containers/<name>/  containers that exist
#   calls               every call, one on a line
#   down                when there: the daemon does not answer
state=$DOCKER_FAKE_STATE
mkdir -p "$state/images" "$state/containers"
printf '%q ' "$@" >>"$state/calls"
echo >>"$state/calls"

fail() {
  echo "$1" >&2
  exit "${2:-1}"
}
folder() { printf '%s' "${1//\//_}"; }
[ -e "$state/down" ] && fail 'Cannot connect to the Docker daemon at unix:///var/run/docker.sock. Is the docker daemon running?'

end_processes() {
  grep -lzxF "FAKE_CONTAINER=$1" /proc/[0-9]*/environ 2>/dev/null | grep -o '[0-9]*' | xargs -r kill -KILL 2>/dev/null
}

command=$1
shift
case $command in
  image) # inspect --format F NAME
    [ -d "$state/images/$(folder "$4")" ] || fail "Error response from daemon: No such image: $4"
    ;;
  pull) # --quiet NAME
    from=$state/registry/$(folder "$2")
    [ -d "$from" ] || fail "Error response from daemon: pull access denied for $2, repository does not exist"
    while [ -e "$from/gate" ]; do sleep 0.02; done
    cp -r "$from" "$state/images/$(folder "$2")"
    ;;
  create | run)
    mounts=()
    while [[ $1 == --* ]]; do
      case $1 in
        --name) name=$2 ;;
        --label) label=$2 ;;
        --mount) mounts+=("$2") ;;
        --network) network=$2 ;;
      esac
      case $1 in --detach | --rm | --init) shift ;; *) shift 2 ;; esac
    done
    image=$state/images/$(folder "$1")
    [ -d "$image" ] || fail "Unable to find image '$1' locally" 125
    [ -e "$image/broken" ] && [ "$command" = run ] && fail 'docker: Error response from daemon: exec: "sh": executable file not found in $PATH' 127
    own=$state/containers/$name
    mkdir "$own"
    echo "$label" >"$own/label"
    echo "${network:-bridge}" >"$own/network"
    ln -s "$image" "$own/image"
    for one in "${mounts[@]}"; do
      source=${one#*source=} target=${one#*target=}
      printf '%s\t%s\n' "${source%%,target=*}" "$target" >>"$own/mounts"
    done
    echo "$name"
    ;;
  cp) # CONTAINER:PATH/. FOLDER
    from=$state/containers/${1%%:*}/image/rootfs${1#*:}
    [ -d "$from" ] || fail "Error response from daemon: Could not find the file ${1#*:} in container ${1%%:*}"
    cp -r "$from" "$2"
    ;;
  exec)
    variables=()
    where=/
    while [[ $1 == --* ]]; do
      case $1 in
        --env) variables+=("$2") ;;
        --workdir) where=$2 ;;
      esac
      [ "$1" = --interactive ] && shift || shift 2
    done
    own=$state/containers/$1
    [ -d "$own" ] || fail "Error response from daemon: No such container: $1"
    export_container=FAKE_CONTAINER=$1
    shift
    arguments=("$@")
    out=()
    while IFS=$'\t' read -r source target; do
      arguments=("${arguments[@]//"$target"/"$source"}")
      variables=("${variables[@]//"$target"/"$source"}")
      where=${where//"$target"/"$source"}
      out+=(-e "s|$source|$target|g")
      [[ $target == *notes ]] && notes=$source
    done <"$own/mounts"
    cd "$where" || exit 126
    exec 3<&0
    env -i "$export_container" SHLVL=2 PATH=/usr/local/bin:/usr/bin:/bin FROM_IMAGE=yes "${variables[@]}" "${arguments[@]}" 0<&3 2> >(sed -u "${out[@]}" >&2) | sed -u "${out[@]}"
    code=${PIPESTATUS[0]}
    find "$notes" -name '.state-*' -exec sed -i "${out[@]}" {} + 2>/dev/null
    exit "$code"
    ;;
  rm) # --force --volumes NAME...
    shift 2
    for name; do
      [ -d "$state/containers/$name" ] || fail "Error response from daemon: No such container: $name"
      end_processes "$name"
      rm -rf "${state:?}/containers/$name"
    done
    ;;
  ps) # --all --quiet --no-trunc --filter label=LABEL
    for own in "$state"/containers/*; do
      [ -e "$own/label" ] && [ "label=$(cat "$own/label")" = "$5" ] && basename "$own"
    done
    exit 0
    ;;
  *) fail "docker: '$command' is not a docker command." ;;
esac
