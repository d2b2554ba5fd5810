import { html, raw } from 'hono/html'
import type { Pull } from './pulls.ts'
import { defaultBranch, git, type Repository } from './repositories.ts'

const STYLE = `body{font:15px/1.5 system-ui,sans-serif;max-width:60rem;margin:2rem auto;padding:0 1rem;color:#1f2328}
a{color:#0969da;text-decoration:none}pre{background:#f6f8fa;border:1px solid #d1d9e0;border-radius:6px;padding:1rem;overflow:auto;font-size:13px}
.open{background:#1a7f37}.merged{background:#8250df}.closed{background:#cf222e}
.state{color:#fff;border-radius:1rem;padding:.15rem .7rem;font-size:13px}.add{color:#1a7f37}.del{color:#cf222e}small{color:#59636e}`

type Html = ReturnType<typeof html>

const page = (title: string, body: Html): Html => html`<!doctype html><html lang="en"><meta charset="utf-8">
<meta name="viewport" content="width=device-width"><title>${title}</title><style>${raw(STYLE)}</style><body>${body}</body></html>`

const pathOf = ({ owner, name }: Repository) => `${owner}/${name}`
const repositoryLink = (repository: Repository): Html =>
  html`<a href="/${pathOf(repository)}">${pathOf(repository)}</a>`
const item = (content: string | Html): Html => html`<li>${content}</li>`

export const indexPage = (repositories: readonly Repository[]): Html =>
  page(
    'Sample git host',
    html`<h1>Sample git host</h1><p>Part of the embedded stack.</p>
<ul>${repositories.map((repository) => item(repositoryLink(repository)))}</ul>`,
  )

/** Renders the page of a repository: the files of its default branch, its branches and pull requests. */
export async function repositoryPage(repository: Repository, url: string, pulls: readonly Pull[]): Promise<Html> {
  const at = ['--git-dir', repository.path]
  const branch = await defaultBranch(repository)
  const [files, branches] = await Promise.all([
    git([...at, 'ls-tree', '-r', '--name-only', `refs/heads/${branch}`]),
    git([...at, 'for-each-ref', '--format=%(refname:short)', 'refs/heads']),
  ])
  const list = (output: string) => output.split('\n').filter(Boolean).map(item)
  const requests = pulls.toReversed().map((pull) => {
    const link = html`<a href="/${pathOf(repository)}/pull/${pull.number}">#${pull.number} ${pull.title}</a>`
    return item(html`${badge(pull)} ${link}`)
  })
  return page(
    pathOf(repository),
    html`<h1>${repositoryLink(repository)}</h1><pre>git clone ${url}.git</pre>
<h2>Pull requests</h2><ul>${requests.length > 0 ? requests : item('none')}</ul>
<h2>Branches</h2><ul>${list(branches.stdout)}</ul><h2>Files on ${branch}</h2><ul>${list(files.stdout)}</ul>`,
  )
}

const badge = (pull: Pull): Html => {
  const state = pull.merged_at ? 'merged' : pull.state
  return html`<span class="state ${state}">${state}</span>`
}

export async function pullPage(repository: Repository, pull: Pull): Promise<Html> {
  const range = `${pull.base_sha}...${pull.head_sha}`
  const diff = await git(['--git-dir', repository.path, 'diff', '--no-color', '--stat', '--patch', range, '--'])
  const lines = diff.stdout.split('\n').map((line) => {
    const kind = line.startsWith('+') ? 'add' : line.startsWith('-') ? 'del' : ''
    return html`<span class="${kind}">${line}</span>\n`
  })
  return page(
    `${pull.title} #${pull.number}`,
    html`<p>${repositoryLink(repository)}</p><h1>${pull.title} <small>#${pull.number}</small></h1>
<p>${badge(pull)} <b>${pull.user}</b> wants to merge <code>${pull.head}</code> into <code>${pull.base}</code>
<small>${pull.created_at}</small></p><pre>${pull.body || 'no description'}</pre><h2>Changes</h2><pre>${lines}</pre>`,
  )
}
