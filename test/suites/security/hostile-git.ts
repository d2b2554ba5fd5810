import { mkdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { git_ } from '../../pipeline/workspace/support.ts'

/** Makes a git configuration that names a program, which creates `mark`, in every setting that allows one. */
export function hostileConfiguration(mark: string): string {
  const run = `touch ${mark}; false`
  return [
    '[core]',
    '\trepositoryformatversion = 0',
    '\tbare = false',
    `\tfsmonitor = "${run}"`,
    `\tpager = "${run}"`,
    `\teditor = "${run}"`,
    `\tsshCommand = "${run}"`,
    `\thooksPath = "hooks"`,
    '[filter "evil"]',
    `\tclean = "touch ${mark}; cat"`,
    `\tsmudge = "touch ${mark}; cat"`,
    '[diff "evil"]',
    `\ttextconv = "${run}"`,
    `\tcommand = "${run}"`,
    '[diff]',
    `\texternal = "${run}"`,
    '[merge "evil"]',
    `\tdriver = "${run}"`,
    '[credential]',
    `\thelper = "!${run}"`,
    '',
  ].join('\n')
}

/** Makes files that turn a folder of a repository into a git directory with that configuration. */
export function gitDirectoryFiles(folder: string, mark: string): Record<string, string> {
  const at = (name: string) => (folder === '' ? name : `${folder}/${name}`)
  return {
    [at('HEAD')]: 'ref: refs/heads/main\n',
    [at('config')]: hostileConfiguration(mark).replace('\tbare = false', '\tbare = false\n\tworktree = .'),
    [at('objects/info/keep')]: '',
    [at('refs/heads/keep.lock')]: '',
    [at('hooks/post-index-change')]: `#!/bin/sh\ntouch ${mark}\n`,
  }
}

/** Turns a folder into a repository with a commit and that configuration, as an engine run could. */
export async function plantRepository(folder: string, mark: string): Promise<void> {
  await mkdir(folder, { recursive: true })
  await writeFile(join(folder, 'inside.tf'), 'x')
  await git_(['init', '--quiet', folder])
  await git_(['add', 'inside.tf'], folder)
  await git_(['commit', '--quiet', '--message=inside'], folder)
  await writeFile(join(folder, '.git', 'config'), hostileConfiguration(mark))
  await writeFile(join(folder, 'inside.tf'), 'changed')
}
