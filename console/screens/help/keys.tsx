const IS_MAC = /Mac|iPhone|iPad/.test(navigator.platform)
const COMMAND = IS_MAC ? '⌘' : 'Ctrl'

const KEYS: [keys: string[], does: string][] = [
  [[COMMAND, 'K'], 'Go anywhere: a screen, a session by its id, or requests by their words.'],
  [['Tab'], 'Go on to the next field or button; with Shift back.'],
  [['Enter'], 'In a form sends it; in the text of a request begins a new line.'],
  [[COMMAND, 'Enter'], 'Send the request from its text.'],
  [['↑', '↓'], 'Choose among modes, settings and entries of a list.'],
  [['Esc'], 'Close a dialog, a list or the meaning of a word.'],
]

/** What works from the keyboard. */
export const Keys = () => (
  <section class="card help-part" aria-labelledby="help-keys">
    <h2 id="help-keys">Keys</h2>
    <table>
      <thead>
        <tr>
          <th scope="col">Keys</th>
          <th scope="col">What they do</th>
        </tr>
      </thead>
      <tbody>
        {KEYS.map(([keys, does]) => (
          <tr key={does}>
            <th scope="row" class="help-keys">
              {keys.map((key) => (
                <kbd key={key}>{key}</kbd>
              ))}
            </th>
            <td>{does}</td>
          </tr>
        ))}
      </tbody>
    </table>
  </section>
)
