/** Rows of a table that know their names. */
export type NamedRows<Rows> = {
  readonly [Name in keyof Rows & string]: Rows[Name] & { readonly name: Name }
}

export function namedRows<Rows extends Readonly<Record<string, object>>>(rows: Rows): NamedRows<Rows> {
  return Object.fromEntries(Object.entries(rows).map(([name, row]) => [name, { ...row, name }])) as NamedRows<Rows>
}
