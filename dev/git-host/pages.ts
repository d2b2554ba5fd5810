import { git } from './git.ts'
import type { Pull } from './pulls.ts'
import { defaultBranch, type Repository } from './repositories.ts'

const ENTITIES: Record<string, string> = { '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;', "'": '&#39;' }
const escapeHtml = (text: string): string => text.replace(/[&<>"']/g, (character) => ENTITIES[character] ?? character)

const STYLE = `body{font:15px/1.5 system-ui,sans-serif;max-width:60rem;margin:2rem auto;padding:0 1rem;color:#1f2328}
a{color:#0969da;text-decoration:none}pre{background:#f6f8fa;border:1px solid #d1d9e0;border-radius:6px;padding:1rem;overflow:auto;font-size:13px}
.open{background:#1a7f37}.merged{background:#8250df}.closed{background:#cf222e}
.state{color:#fff;border-radius:1rem;padding:.15rem .7rem;font-size:13px}.add{color:#1a7f37}.del{color:#cf222e}small{color:#59636e}`

const page = (title: string, body: string): string =>
  '<!doctype html><html lang="en"><meta charset="utf-8"><meta name="viewport" ' +
  `content="width=device-width"><title>${escapeHtml(title)}</title><style>${STYLE}</style><body>${body}</body></html>`

const repositoryLink = (repository: Repository): string => {
  const name = escapeHtml(`${repository.owner}/${repository.name}`)
  return `<a href="/${name}">${name}</a>`
}

export function indexPage(repositories: readonly Repository[]): string {
  const items = repositories.map((repository) => `<li>${repositoryLink(repository)}</li>`).join('')
  return page('Sample git host', `<h1>Sample git host</h1><p>Part of the embedded stack.</p><ul>${items}</ul>`)
}

/** Renders the page of a repository: the files of its default branch, its branches and pull requests. */
export async function repositoryPage(repository: Repository, url: string, pulls: readonly Pull[]): Promise<string> {
  const at = ['--git-dir', repository.path]
  const branch = await defaultBranch(repository)
  const [files, branches] = await Promise.all([
    git([...at, 'ls-tree', '-r', '--name-only', `refs/heads/${branch}`]),
    git([...at, 'for-each-ref', '--format=%(refname:short)', 'refs/heads']),
  ])
  const list = (output: string) =>
    output
      .split('\n')
      .filter(Boolean)
      .map((line) => `<li>${escapeHtml(line)}</li>`)
      .join('')
  const requests = pulls.map(
    (pull) =>
      `<li>${badge(pull)} <a ` +
      `href="/${escapeHtml(`${repository.owner}/${repository.name}`)}/pull/${pull.number}">#${pull.number} ` +
      `${escapeHtml(pull.title)}</a></li>`,
  )
  return page(
    `${repository.owner}/${repository.name}`,
    `<h1>${repositoryLink(repository)}</h1><pre>git clone ${escapeHtml(url)}.git</pre>
<h2>Pull requests</h2><ul>${requests.reverse().join('') || '<li>none</li>'}</ul>
<h2>Branches</h2><ul>${list(branches.stdout)}</ul><h2>Files on ${escapeHtml(branch)}</h2><ul>${list(files.stdout)}</ul>`,
  )
}

const badge = (pull: Pull): string => {
  const state = pull.merged_at ? 'merged' : pull.state
  return `<span class="state ${state}">${state}</span>`
}

export async function pullPage(repository: Repository, pull: Pull): Promise<string> {
  const range = `${pull.base_sha}...${pull.head_sha}`
  const diff = await git(['--git-dir', repository.path, 'diff', '--no-color', '--stat', '--patch', range, '--'])
  const lines = diff.stdout.split('\n').map((line) => {
    const kind = line.startsWith('+') ? 'add' : line.startsWith('-') ? 'del' : ''
    return kind ? `<span class="${kind}">${escapeHtml(line)}</span>` : escapeHtml(line)
  })
  return page(
    `${pull.title} #${pull.number}`,
    `<p>${repositoryLink(repository)}</p><h1>${escapeHtml(pull.title)} <small>#${pull.number}</small></h1>
<p>${badge(pull)} <b>${escapeHtml(pull.user)}</b> wants to merge <code>${escapeHtml(pull.head)}</code> into <code>${escapeHtml(pull.base)}</code>
<small>${escapeHtml(pull.created_at)}</small></p><pre>${escapeHtml(pull.body) || 'no description'}</pre><h2>Changes</h2><pre>${lines.join('\n')}</pre>`,
  )
}
