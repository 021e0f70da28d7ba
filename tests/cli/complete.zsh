# complete.zsh FUNCTIONS LINE... -- what zsh makes of each command line when tab is pressed
# at its end, all matches put in, with the completion functions of that directory.
#
# Completion works on a terminal only: a second zsh gets one, is told what the tab key
# does, and answers between two marks.
zmodload zsh/zpty
folder=$1
shift

# Of zsh's own functions those that are needed: to look through all takes seconds.
setup='
PROMPT= RPROMPT=
unset zle_bracketed_paste
base=(${(M)fpath:#*/Completion(|/Base|/Zsh|/Unix)})
(($#base > 2)) && fpath=($base)
fpath=('${(q)folder}' $fpath)
autoload -Uz compinit && compinit -C -D
every() { _main_complete; compstate[insert]=all; compstate[list]= }
zle -C every complete-word every
show() { print -r -- "<answer>$BUFFER</answer>"; BUFFER=; zle -I }
zle -N show
bindkey "^I" every; bindkey "^]" show
print -r -- "<re""ady>"
'
zpty shell zsh -f -i
zpty -w shell "stty columns 500 && eval ${(q)setup}"
zpty -r -m shell out '*<ready>*'
for line in "$@"; do
    zpty -n -w shell "$line"$'\t\x1d'
    zpty -r -m shell out '*<answer>*</answer>*'
    answer=${out##*<answer>}
    print -r -- "${answer%%</answer>*}"
done
zpty -d shell
