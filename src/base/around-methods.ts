// Wraps every method of an object and of the objects in it, so that stores can be measured and their errors classified without a list
// of their methods.

/** `name` is the method's path, such as `jobs.claim`; `call` runs it. The return value goes to the caller. */
export type Around = (name: string, call: () => unknown) => unknown;

export function aroundMethods<T extends object>(object: T, around: Around, prefix = ''): T {
  const seen = new Map<PropertyKey, unknown>();
  return new Proxy(object, {
    get(target, key) {
      const value = Reflect.get(target, key) as unknown;
      if (typeof key === 'symbol' || value === null) return value;
      if (typeof value !== 'function' && typeof value !== 'object') return value;
      if (!seen.has(key)) {
        const name = `${prefix}${key}`;
        const method = (...args: unknown[]) => around(name, () => Reflect.apply(value as () => unknown, target, args));
        seen.set(key, typeof value === 'object' ? aroundMethods(value, around, `${name}.`) : method);
      }
      return seen.get(key);
    },
  });
}
