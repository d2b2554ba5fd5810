interface CodeDiffProps {
  /** A unified diff with the whole file as context, as `code_changes` artifacts are. */
  diff: string
  /** Path of the file, which tells the language. */
  name: string
  layout?: 'unified' | 'split'
}

export const CodeDiff = ({ diff }: CodeDiffProps) => <pre>{diff}</pre>
