#!/usr/bin/env python3
"""Writes the man page and the shell completions of commands from what they print for --help.

    manual.py --out=FOLDER --version=VERSION COMMAND...

Below FOLDER: man/man1/NAME.1, bash-completion/completions/NAME, zsh/site-functions/_NAME,
fish/vendor_completions.d/NAME.fish.
"""
import argparse
import os
import re
import subprocess
import sys
from dataclasses import dataclass, field

# The column at which CLI11 begins explanations; a longer left side is followed by a line break.
COLUMN = 30


@dataclass
class Option:
    """A flag, or a positional argument, which has no dash in its name."""
    names: list  # '-h', '--help'
    value: str  # 'FILE', '[=table|json]'; '' if it takes none.
    choices: list  # What the value may be, if it is one of a few words.
    explanation: str

    @property
    def takes_value(self):
        """Whether a value follows behind a space; `[=a|b]` may only follow behind `=`."""
        return self.value != '' and not self.value.startswith('[=')


@dataclass
class Help:
    name: str
    summary: str  # One sentence.
    description: list  # Lines.
    usage: str
    positionals: list = field(default_factory=list)
    options: list = field(default_factory=list)


def parse_option(left, explanation):
    head, _, value = left.partition(' ')
    names = re.sub(r'\{[^}]*\}', '', head).split(',')
    value = re.sub(r' (REQUIRED|Needs: .*|Excludes: .*)$', '', ' ' + value).strip()
    listed = re.search(r'\{([^{}]*)\}$', value) or re.search(r'^\[=(.*)\]$', value)
    value = re.sub(r':.*$', '', value) if not value.startswith('[=') else value.partition(':')[0]
    words = listed.group(1) if listed else value.split(' ')[0]
    choices = re.split(r'[,|]', words) if listed or '|' in words else []
    return Option(names, value, [c for c in choices if re.fullmatch(r'[a-z0-9_-]+', c)], explanation)


def parse_help(name, text):
    """What --help printed, as CLI11 lays it out."""
    before, usage, rest = re.split(r'^Usage: (.*)$', text, maxsplit=1, flags=re.M)
    lines = before.strip().splitlines()
    end = next((i for i, line in enumerate(lines) if not line.strip()), len(lines))
    result = Help(name, ' '.join(lines[:end]).split('. ')[0].rstrip('.'), lines, usage)
    rows, section = [], None
    for line in rest.splitlines():
        if re.match(r'^\S.*:$', line):
            section = result.positionals if line == 'Positionals:' else result.options
        elif line.startswith(' ' * COLUMN):
            rows[-1][2].append(line.strip())
        elif line.startswith('  '):
            short = len(line) > COLUMN and line[COLUMN - 1] == ' '
            left, right = (line[:COLUMN], line[COLUMN:]) if short else (line, '')
            rows.append((section, left.strip(), [right.strip()] if right.strip() else []))
    for section, left, explanation in rows:
        section.append(parse_option(left, ' '.join(explanation)))
    return result


def roff(text):
    """`text` with the characters escaped that roff reads as its own."""
    text = text.replace('\\', '\\e').replace('-', '\\-').replace("'", '\\(aq').replace('^', '\\(ha').replace('~', '\\(ti')
    return '\\&' + text if text.startswith('.') else text


def man_page(command, version):
    out = [f'.TH {command.name.upper()} 1 "" "Toroid {version}" "Toroid"', '.ad l', '.SH NAME',
           f'{roff(command.name)} \\- {roff(command.summary[0].lower() + command.summary[1:])}',
           '.SH SYNOPSIS', f'.B {roff(command.name)}', roff(command.usage.partition(' ')[2]), '.SH DESCRIPTION']
    literal = False
    for line in command.description:
        if line.startswith('  ') != literal:
            literal = not literal
            out.append('.nf' if literal else '.fi')
        out.append(roff(line) if line.strip() else '.PP')
    out += ['.fi'] if literal else []
    out.append('.SH OPTIONS')
    for option in command.positionals + command.options:
        heads = ', '.join(f'\\fB{roff(name)}\\fR' for name in option.names)
        equals = '' if not option.takes_value else '=' if option.names[-1].startswith('--') else ' '
        value = f'{equals}\\fI{roff(option.value)}\\fR' if option.value and option.names[0].startswith('-') else ''
        out += ['.TP', heads + value, roff(option.explanation)]
        if option.choices and '|' not in option.value:
            out.append('One of ' + ', '.join(f'\\fB{roff(choice)}\\fR' for choice in option.choices) + '.')
    out += ['.SH EXIT STATUS', '0: success. 1: the input cannot be processed, or a check failed. 2: wrong usage.',
            '.SH SEE ALSO', 'docs/commands.md of the same archive: formats, examples, the keys of JSON outputs.']
    return '\n'.join(out) + '\n'


def bash(command):
    function = '_' + command.name.replace('-', '_')
    cases = ''.join(f'    {"|".join(option.names)}) COMPREPLY=($(compgen -W "{" ".join(option.choices)}" -- "$cur")); return ;;\n'
                    for option in command.options if option.choices)
    files = '|'.join(name for option in command.options if option.takes_value and not option.choices for name in option.names)
    words = ' '.join(word for option in command.options for word in option.names)
    return f'''# Completion of {command.name} for bash.
{function}() {{
  local cur=${{COMP_WORDS[COMP_CWORD]}} prev=${{COMP_WORDS[COMP_CWORD - 1]}}
  # Readline takes the = of --flag=value for a word.
  if [[ $cur == "=" ]]; then
    cur=""
  elif [[ $prev == "=" ]]; then
    prev=${{COMP_WORDS[COMP_CWORD - 2]}}
  fi
  COMPREPLY=()
  case $prev in
{cases}    {files or '""'}) return ;;
  esac
  if [[ $cur == -* ]]; then COMPREPLY=($(compgen -W "{words}" -- "$cur")); fi
}}
complete -o bashdefault -o default -F {function} {command.name}
'''


def zsh(command):
    def quoted(text):
        return text.replace("'", "'\\''")

    lines = []
    for option in command.options:
        explanation = re.sub(r'([\[\]:\\])', r'\\\1', option.explanation)
        values = f':({" ".join(option.choices)})' if option.choices else ':_files'
        for name in option.names:
            long = name.startswith('--')
            if option.takes_value:
                spec = f'*{name}{"=" if long else "+"}[{explanation}]:value{values}'
            elif option.choices:
                spec = f'{name}=-[{explanation}]::value{values}'
            else:
                spec = f'{name}[{explanation}]'
            lines.append(f"  '{quoted(spec)}' \\\n")
    return f'#compdef {command.name}\n_arguments \\\n{"".join(lines)}' + "  '*:file:_files'\n"


def fish(command):
    def quoted(text):
        return "'" + text.replace('\\', '\\\\').replace("'", "\\'") + "'"

    out = f'# Completion of {command.name} for fish.\n'
    for option in command.options:
        names = ''.join(f' -l {name[2:]}' if name.startswith('--') else f' -s {name[1:]}' for name in option.names)
        if option.choices:
            names += (' -x' if option.takes_value else '') + f' -a {quoted(" ".join(option.choices))}'
        elif option.takes_value:
            names += ' -r'
        out += f'complete -c {command.name}{names} -d {quoted(option.explanation)}\n'
    return out


def write(path, text):
    os.makedirs(os.path.dirname(path), exist_ok=True)
    with open(path, 'w', encoding='utf-8') as f:
        f.write(text)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument('--out', required=True)
    parser.add_argument('--version', required=True)
    parser.add_argument('commands', nargs='+')
    flags = parser.parse_args()
    for path in flags.commands:
        name = os.path.basename(path)
        text = subprocess.run([os.path.abspath(path), '--help'], check=True, capture_output=True, text=True).stdout
        command = parse_help(name, text)
        if not command.options:
            sys.exit(f'{name}: its --help lists no flags in the form that {sys.argv[0]} reads')
        write(f'{flags.out}/man/man1/{name}.1', man_page(command, flags.version))
        write(f'{flags.out}/bash-completion/completions/{name}', bash(command))
        write(f'{flags.out}/zsh/site-functions/_{name}', zsh(command))
        write(f'{flags.out}/fish/vendor_completions.d/{name}.fish', fish(command))


if __name__ == '__main__':
    main()
