import { constants } from 'node:fs'
import { type FileHandle, lstat, mkdir, open, realpath, unlink } from 'node:fs/promises'
import { basename, dirname } from 'node:path'
import { ToolError } from '../../../src/agent/agent-request.ts'
import { allInOrder } from '../../../src/base/gate.ts'
import { isJsonCode } from '../../../src/plan/code/blocks.ts'
import { findJsonFault } from '../../../src/plan/code/json-code.ts'
import type { LocalGit } from '../git/git.ts'
import { type Enclosure, resolveExistingPath, resolveWritablePath, toRelativePath } from './confine.ts'
import { isInEngineFolder } from './engine-files.ts'
import { searchReplace } from './search-replace.ts'

const EXTENSIONS = ['tf', 'tfvars', 'tf.json', 'tofu.json']
const MAX_BYTES = 1_000_000

export interface Editor extends Enclosure {
  git: LocalGit
}

/** Creates or overwrites a file with its directories. Returns true if that changed anything. */
export async function writeText(editor: Editor, path: string, content: string): Promise<boolean> {
  assertEditable(editor, path)
  if (Buffer.byteLength(content) > MAX_BYTES) throw new ToolError(`The content is larger than ${MAX_BYTES} bytes`)
  assertStructure(path, content, null)
  const target = await resolveWritablePath(editor, path)
  await assertCommittable(editor, path)
  const parent = dirname(target)
  await mkdir(parent, { recursive: true }).catch(() => {
    throw new ToolError(`The directory of '${path}' cannot be created: a file is in the way`)
  })
  // A directory may have been replaced by a symlink since it was checked.
  if ((await realpath(parent)) !== parent) throw new ToolError(`Path '${path}' is outside of the workspace`)
  const isNew = (await lstat(target).catch(() => null)) === null
  return await withFile(path, target, constants.O_RDWR | constants.O_CREAT, async (handle) => {
    const before = isNew ? '' : await readStart(handle)
    assertNoPointer(path, before)
    const text = inFormOf(before, content)
    if (!isNew && text === before) return false
    await handle.truncate(0)
    await handle.write(text, 0)
    return true
  })
}

/** Refuses a text that is no code in the JSON form, unless the file had the same fault. */
function assertStructure(path: string, text: string, before: string | null): void {
  const fault = isJsonCode(path) ? findJsonFault(text, before) : null
  if (fault !== null) throw new ToolError(`Nothing was written to '${path}': ${fault}`)
}

/** Refuses to change what stands for a file of Git LFS: a commit of other text would break it for everyone. */
function assertNoPointer(path: string, text: string): void {
  if (text.startsWith(LFS_POINTER))
    throw new ToolError(`'${path}' is kept in Git LFS; the workspace has only its pointer, which must not be changed`)
}

/** How a file begins that stands for one of Git LFS (version 1 of its specification). */
const LFS_POINTER = 'version https://git-lfs.github.com/spec/v1\n'

/** Reads at most `MAX_BYTES` as text. */
async function readStart(handle: FileHandle): Promise<string> {
  const bytes = Buffer.alloc(Math.min((await handle.stat()).size, MAX_BYTES))
  const { bytesRead } = await handle.read(bytes, 0, bytes.byteLength, 0)
  return bytes.subarray(0, bytesRead).toString('utf8')
}

const BYTE_ORDER_MARK = '\uFEFF'

/** Gives a new text the line ends and the byte order mark of the old one, so that only changed lines differ. */
function inFormOf(before: string, content: string): string {
  const hasReturns = before.includes('\r\n') && !/(?<!\r)\n/.test(before)
  const text = hasReturns ? content.replaceAll(/\r?\n/g, '\r\n') : content
  return before.startsWith(BYTE_ORDER_MARK) && !text.startsWith(BYTE_ORDER_MARK) ? `${BYTE_ORDER_MARK}${text}` : text
}

/** Applies all search/replace blocks to a file, or none when one does not fit. */
export async function replaceInText(editor: Editor, path: string, diff: string): Promise<void> {
  assertEditable(editor, path)
  const target = await resolveWritablePath(editor, path)
  await withFile(path, target, constants.O_RDWR, async (handle) => {
    if ((await handle.stat()).size > MAX_BYTES) throw new ToolError(`File '${path}' is larger than ${MAX_BYTES} bytes`)
    const bytes = await handle.readFile()
    const text = bytes.toString('utf8')
    if (!Buffer.from(text).equals(bytes)) throw new ToolError(`File '${path}' is not UTF-8 text`)
    assertNoPointer(path, text)
    const replaced = searchReplace(text, diff)
    assertStructure(path, replaced, text)
    await handle.truncate(0)
    await handle.write(replaced, 0)
  })
}

/** Removes a file; of a symlink only the link itself. */
export async function removeFile(editor: Editor, path: string): Promise<void> {
  assertEditable(editor, path)
  const target = await resolveWritablePath(editor, path)
  if ((await resolveExistingPath(editor, dirname(path) || '.')) === null) throw missingFileError(path)
  await unlink(target).catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOENT' || error.code === 'ENOTDIR') throw missingFileError(path)
    throw new ToolError(`File '${path}' cannot be deleted`)
  })
}

/** Thrown when a file that a model named does not exist. */
export class MissingFile extends ToolError {}

export const missingFileError = (path: string): MissingFile => new MissingFile(`File ${path} does not exist`)

function assertEditable(editor: Editor, path: string): void {
  const relative = toRelativePath(editor, path)
  const name = basename(relative)
  if (!EXTENSIONS.some((extension) => name.endsWith(`.${extension}`)))
    throw new ToolError(
      `File extension violation. File '${path}' cannot be modified. Allowed extensions: ${EXTENSIONS.join(', ')}`,
    )
  if (isInEngineFolder(relative)) throw new ToolError(`File '${path}' belongs to the engine and cannot be modified`)
}

/** Refuses a file that no commit would contain: it would change the plan without being reviewed. */
async function assertCommittable(editor: Editor, path: string): Promise<void> {
  const name = toRelativePath(editor, path)
  const [ignored, inLfs, isRemoved] = await allInOrder([
    editor.git(['check-ignore', '--quiet', '--', `./${name}`], { cwd: editor.root }),
    isInLfs(editor, name),
    isRemovedEntry(editor, name),
  ])
  if (ignored.code === 0)
    throw new ToolError(
      `File '${path}' is ignored by the repository's git rules and would not be part of the change. Use ` +
        'another name or place.',
    )
  if (inLfs)
    throw new ToolError(
      `The repository keeps '${path}' in Git LFS (.gitattributes), where the platform stores nothing: the engine would ` +
        'read a pointer in its place from the next round on. Use another name or place.',
    )
  if (isRemoved)
    throw new ToolError(
      `Path '${path}' belongs to an entry of the repository that is not accessible. Use another name or place.`,
    )
}

/** True if the attributes of the repository give the file to Git LFS. */
async function isInLfs(editor: Editor, name: string): Promise<boolean> {
  const output = await editor.git(['check-attr', '-z', 'filter', '--', `./${name}`], { cwd: editor.root })
  return output.stdout.split('\0')[2] === 'lfs'
}

/** True if the file or a parent directory has the name of an entry that `checkOutFiles` left out. */
async function isRemovedEntry(editor: Editor, name: string): Promise<boolean> {
  const segments = name.split('/')
  const prefixes = segments.map((_, index) => segments.slice(0, index + 1).join('/'))
  const args = ['--literal-pathspecs', 'ls-files', '-t', '-z', '--', ...prefixes.map((prefix) => `./${prefix}`)]
  const output = await editor.git(args, { cwd: editor.root })
  return output.stdout.split('\0').some((line) => line.startsWith('S ') && prefixes.includes(line.slice(2)))
}

async function withFile<Result>(
  path: string,
  target: string,
  flags: number,
  use: (handle: FileHandle) => Promise<Result>,
): Promise<Result> {
  const handle = await open(target, flags | constants.O_NOFOLLOW | constants.O_NONBLOCK, 0o644).catch(
    (error: NodeJS.ErrnoException) => {
      if (error.code === 'ENOENT' || error.code === 'ENOTDIR') throw missingFileError(path)
      if (error.code === 'ELOOP')
        throw new ToolError(`File '${path}' is a symbolic link and cannot be modified: others may use its target`)
      throw new ToolError(`File '${path}' cannot be modified`)
    },
  )
  try {
    if (!(await handle.stat()).isFile()) throw new ToolError(`'${path}' is not a regular file`)
    return await use(handle)
  } finally {
    await handle.close()
  }
}
