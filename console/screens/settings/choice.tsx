interface ChoiceProps<Value extends string> {
  name: string
  legend: string
  options: readonly [Value, name: string, says: string][]
  chosen: Value
  choose: (value: Value) => void
}

/** One of a few settings; each says in a line what it does. */
export function Choice<Value extends string>({ name, legend, options, chosen, choose }: ChoiceProps<Value>) {
  return (
    <fieldset class="settings-choice">
      <legend class="field-label">{legend}</legend>
      {options.map(([value, title, says]) => (
        <label key={value} class="settings-option">
          <input type="radio" name={name} value={value} checked={value === chosen} onChange={() => choose(value)} />
          <span>
            {title} <span class="quiet small">{says}</span>
          </span>
        </label>
      ))}
    </fieldset>
  )
}
