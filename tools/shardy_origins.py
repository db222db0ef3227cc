#!/usr/bin/env python3
"""Compares the origins that `hlo-partition --why_json` names with those that Shardy writes.

  python3 tools/shardy_origins.py --hlo_partition=bazel-bin/partitioner/hlo-partition MODULE.hlo.pb ...

Shardy, as jaxlib has it, dumps for each value and mesh axis the argument, result or constraint that the axis comes from. This tool
makes XLA partition a module of the Shardy dialect for CPU devices, writes the graph that Shardy propagated on as StableHLO with the
annotations of the module alone, asks hlo-partition about it, and compares origins wherever both cut the same dimension of a value by
the same axis. One line for each module: values cut alike, origins that agree; with --list also those that differ. Needs jaxlib 0.10.
"""
import argparse
import collections
import glob
import json
import os
import re
import subprocess
import sys
import tempfile

OP = re.compile(r'^\s*%(\w+)(:\d+)? = ')
AXES = re.compile(r'"([^"]+)"(:\(\d+\)\d+)?')
FILE = 'shardy'  # The source file of made-up locations; the line is that of the dump.


def closing(text, begin):
  """The position behind the bracket that closes the one at `begin`."""
  depth, quoted = 0, False
  for i in range(begin, len(text)):
    c = text[i]
    if c == '"' and text[i - 1] != '\\':
      quoted = not quoted
    elif not quoted and c in '([{':
      depth += 1
    elif not quoted and c in ')]}':
      depth -= 1
      if depth == 0:
        return i + 1
  return -1


def split(text):
  """Splits at commas outside of brackets and quotes."""
  parts, depth, quoted, begin = [], 0, False, 0
  for i, c in enumerate(text):
    if c == '"' and text[i - 1] != '\\':
      quoted = not quoted
    elif not quoted and c in '([{':
      depth += 1
    elif not quoted and c in ')]}':
      depth -= 1
    elif not quoted and c == ',' and depth == 0:
      parts.append(text[begin:i].strip())
      begin = i + 1
  parts.append(text[begin:].strip())
  return [part for part in parts if part]


def attributes(line):
  """The attributes of Shardy on a line of an op, by name, and the line without them."""
  found = {}
  at = line.find('{sdy.')
  while at < 0 or line[at - 1] != ' ':
    # The dictionary may begin with an attribute of another dialect.
    match = re.search(r' \{[^{}"]*?sdy\.', line)
    if not match:
      return found, line
    at = match.start() + 1
  end = closing(line, at)
  if end < 0:
    return found, line
  kept = []
  for part in split(line[at + 1:end - 1]):
    name, _, value = part.partition(' = ')
    if name.startswith('sdy.'):
      found[name[len('sdy.'):]] = value
    else:
      kept.append(part)
  dictionary = '{' + ', '.join(kept) + '} ' if kept else ''
  return found, line[:at] + dictionary + line[end:].lstrip(' ')


def axes_by_dim(sharding):
  """{axis: dimension} of a sharding's text; of several, of the first."""
  match = re.search(r'<@?[^,\[]*, (\[)', sharding)
  if not match:
    return {}
  dims = sharding[match.start(1) + 1:closing(sharding, match.start(1)) - 1]
  return {name + part: d for d, dim in enumerate(split(dims)) for name, part in AXES.findall(dim)}


def origins_of(text):
  """{axis: origin} of the attribute sharding_origins; of several results, of the first."""
  first = split(text.strip()[1:-1])[0] if text.startswith('[') else text
  return dict(re.findall(r'"?([\w.:()-]+)"? = "([^"]*)"', first))


def signature(text):
  """The lines of main's signature."""
  begin = text.index('func.func @main(')
  if begin < 0:
    begin = text.index('func.func public @main(')
  return begin, text.index('\n', begin)


def rewritten(before, after):
  """StableHLO of the graph after propagation with the annotations before it; what Shardy says of each line."""
  constraints = [re.search(r'sdy\.sharding_constraint %\S+ (<[^>]*>) (?:\{|:)', line).group(1)
                 for line in before.splitlines() if ' sdy.sharding_constraint ' in line]
  b, e = signature(before)
  head = before[b:e]
  b, e = signature(after)
  after = after[:b] + head + after[e:]
  out, said, names, edges, opened, values = [], {}, {}, {}, [], {}
  after_lines = after.splitlines()
  for number, line in enumerate(after_lines, 1):
    if 'func.func @main(' in line or 'func.func public @main(' in line:
      out.append(line)
      continue
    found, line = attributes(line)
    op = OP.match(line)
    indent = len(line) - len(line.lstrip())
    if op and (not closing_is_on(line) or after_lines[number][indent:].startswith(('reducer', ' reducer', ' cond', 'cond'))):
      opened.append((indent, number))
      op = None
    elif opened and line.startswith(' ' * opened[-1][0] + '}') and ' do {' not in line and not line.endswith('}, {'):
      closed = opened.pop()[1]
      line = f'{line} loc("{FILE}":{closed}:0)'
      if 'sharding' in found:
        said[closed] = (axes_by_dim(found['sharding']), origins_of(found.get('sharding_origins', '')))
    if (op or opened and opened[-1][1] == number) and 'sharding' in found:
      said[number] = (axes_by_dim(found['sharding']), origins_of(found.get('sharding_origins', '')))
      if op:
        values[op.group(1)] = said[number][1]
    if ' sdy.reshard ' in line:
      if not constraints:
        return None, None, None
      asked = constraints.pop(0)
      name = found.get('sharding_origin_name', '').strip('"')
      names[name] = f'{FILE}:{number}'
      # Shardy names an open constraint also for axes that its operand handed on.
      for axis in axes_by_dim(found.get('sharding') or re.search(r'<[^>]*>', line).group(0)):
        if axis not in axes_by_dim(asked):
          operand = re.search(r'sdy\.reshard %(\S+)', line).group(1)
          known = values.get(operand, {}).get(axis)
          names[name, axis] = f'input: {operand[3:]}' if operand.startswith('arg') else names.get(known, known)
      said.pop(number, None)
      said[number] = (axes_by_dim(asked), {})
      line = re.sub(r'sdy\.reshard (%\S+) <[^>]*>', lambda m: f'sdy.sharding_constraint {m.group(1)} {asked}', line)
    line = line.replace(' = sdy.constant ', ' = stablehlo.constant ')
    edge = re.match(r'\s*%(\w+) = sdy\.data_flow_edge %(\S+)', line)
    if edge:
      edges[edge.group(1)] = edge.group(2)
      continue
    for to, source in edges.items():
      line = re.sub(rf'%{to}\b(?!#)', '%' + source, line)
    if op and closing_is_on(line):
      line = f'{line} loc("{FILE}":{number}:0)'
    out.append(line)
  return (None, None, None) if constraints else ('\n'.join(out) + '\n', said, names)


def closing_is_on(line):
  """Whether an op ends on its line."""
  text = re.sub(r'"[^"]*"', '', line)
  return text.count('{') == text.count('}') and text.count('(') == text.count(')')


def dump(path, devices, folder):
  """Makes XLA partition the module; returns the texts before and after propagation."""
  script = (
      'import sys\nimport jax, numpy\nfrom jaxlib import xla_client as xc\n'
      'd = open(sys.argv[1], "rb").read()\nn = int(sys.argv[2])\n'
      'def unwrap(d):\n'  # HloProto: field 1 is the module.
      '  i = 1; size = 0; shift = 0\n'
      '  while True:\n'
      '    b = d[i]; size |= (b & 127) << shift; shift += 7; i += 1\n'
      '    if b < 128: break\n'
      '  return d[i:i + size] if d[i:i + 1] == b"\\n" else d\n'
      's = xc._xla.mlir.xla_computation_to_mlir_module(xc.XlaComputation(unwrap(d)))\n'
      'o = xc.CompileOptions(); o.num_partitions = n; o.num_replicas = 1\n'
      'b = o.executable_build_options\n'
      'b.num_partitions = n; b.use_spmd_partitioning = True; b.use_shardy_partitioner = True\n'
      'o.device_assignment = xc.DeviceAssignment.create(numpy.arange(n).reshape(1, n))\n'
      'c = jax.devices("cpu")\n'
      'c[0].client.compile_and_load(s, xc.DeviceList(tuple(c[:n])), o)\n')
  flags = (f'--xla_force_host_platform_device_count={devices} --xla_dump_to={folder} '
           '--xla_dump_hlo_pass_re=shardy-verbose')
  env = dict(os.environ, XLA_FLAGS=flags, JAX_PLATFORMS='cpu')
  # What is wanted is dumped before XLA generates code, whatever comes after.
  subprocess.run([sys.executable, '-c', script, path, str(devices)], env=env, capture_output=True, timeout=600, check=False)
  texts = []
  for name in ('01.before_propagation', '02.after_propagation'):
    files = glob.glob(f'{folder}/shardy/module_*/{name}.mlir')
    if not files:
      return None
    with open(max(files, key=os.path.getsize), encoding='utf-8') as file:
      texts.append(file.read())
  return texts


def named(origin):
  """An origin of --why_json in Shardy's words, or the line of a constraint."""
  at = origin['origin']
  if origin['kind'] != 'asked':
    return origin['kind']
  if at['argument'] is not None:
    return f"input: {at['argument']}"
  if at['result'] is not None:
    return f"output: {at['result']}"
  return at['source']


def compare(command, text, said, names, folder, list_all):
  """Counts of axes that both have in the same dimension, and of those whose origins agree."""
  path = os.path.join(folder, 'asked.mlir')
  with open(path, 'w', encoding='utf-8') as file:
    file.write(text)
  run = subprocess.run([command, path, '--why_json=-'], capture_output=True, text=True, check=False)
  if run.returncode != 0:
    return None, run.stderr.strip().splitlines()[-1:]
  alike = agreed = 0
  differences = []
  kinds = collections.Counter()
  for value in json.loads(run.stdout)['values']:
    file, _, line = value['source'].rpartition(':')
    if file != FILE or value['argument'] is not None or int(line) not in said:
      continue
    axes, origins = said[int(line)]
    for cut in value['cuts']:
      for name, part in AXES.findall(cut['axes']):
        axis = name + part
        theirs = origins.get(axis)
        if axes.get(axis) != cut['dim'] or theirs is None or theirs == 'self':
          continue
        alike += 1
        ours = named(cut)
        theirs = names.get((theirs, axis), names.get(theirs, theirs))
        agreed += ours == theirs
        if ours != theirs:
          kinds[ours.split(':')[0] + ' / ' + theirs.split(':')[0]] += 1
          if list_all:
            differences.append(f'  {value["name"]} ({value["source"]}) {axis} in {cut["dim"]}: {ours}, Shardy {theirs}')
  return (alike, agreed, kinds), differences


def main():
  """Runs the comparison; see the top of the file."""
  parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
  parser.add_argument('modules', nargs='+', help='modules of the Shardy dialect, each an HloProto')
  parser.add_argument('--hlo_partition', required=True, help='the command to ask')
  parser.add_argument('--list', action='store_true', help='list the values whose origins differ')
  parser.add_argument('--keep', help='a folder for the StableHLO that is asked about')
  args = parser.parse_args()
  total, same = 0, 0
  for module in args.modules:
    name = os.path.basename(module)
    # The number of devices is the command's to say.
    summary = subprocess.run([args.hlo_partition, module], capture_output=True, text=True, check=False).stdout
    devices = re.search(r'one program for ([\d,]+) device', summary)
    if not devices:
      print(f'{name}: hlo-partition says nothing of its devices')
      continue
    with tempfile.TemporaryDirectory() as folder:
      texts = dump(module, int(devices.group(1).replace(',', '')), folder)
      if texts is None:
        print(f'{name}: XLA dumped nothing')
        continue
      text, said, names = rewritten(*texts)
      if text is None:
        print(f'{name}: the constraints before and after propagation differ')
        continue
      if args.keep:
        with open(os.path.join(args.keep, name + '.mlir'), 'w', encoding='utf-8') as file:
          file.write(text)
      counts, differences = compare(args.hlo_partition, text, said, names, folder, args.list)
    if counts is None:
      print(f'{name}: {" ".join(differences)}')
      continue
    total, same = total + counts[0], same + counts[1]
    print(f'{name}: {counts[1]} of {counts[0]} agree', dict(counts[2]) or '')
    for line in differences:
      print(line)
  print(f'in all: {same} of {total} agree ({100 * same / max(total, 1):.1f} %)')


if __name__ == '__main__':
  main()
