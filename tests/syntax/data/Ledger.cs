#nullable enable
using System;
using System.Collections.Generic;
using System.Linq;

namespace Shop.Books
{
    /// <summary>What was bought.</summary>
    [Serializable]
    public sealed record Entry(string Name, decimal Price);

    public enum Level { Low, High = 2 }

    public interface ILedger<T> where T : class, new()
    {
        event EventHandler? Changed;
        T this[int index] { get; }
    }

    public class Ledger : Base, IDisposable
    {
        private readonly Dictionary<string, List<Entry>> _entries = new();
        public const int Limit = 0x10;

        public Ledger(string path) : base(path) { }

        public decimal Total { get; private set; }

        public static explicit operator int(Ledger ledger) => (int)ledger.Total;

        public async Task<bool> AddAsync(Entry entry, params int[] rest)
        {
            var (name, price) = entry;
            if (!_entries.TryGetValue(name, out var known) || rest is { Length: > 3 })
            {
                _entries[name] = known = new List<Entry> { entry };
            }
            lock (_entries) { Total += checked(price * rest.Length); }
            foreach (var one in known)
            {
                Console.WriteLine($"{one.Name,-10}: {one.Price:F2} at {@"C:\books"}");
            }
            return await Task.FromResult(known?.Count >= 1);
        }

        public IEnumerable<string> Names(Level level)
        {
            var query = from pair in _entries
                        where pair.Value.Any(e => e.Price > 1.5m)
                        orderby pair.Key descending
                        select pair.Key;
            string word = level switch { Level.Low => "low", Level.High when Total > 0 => "high", _ => throw new ArgumentException(nameof(level)) };
            for (int i = 0; i < query.Count(); i++)
            {
                if (word == "low") { continue; }
                yield return word + 'x';
            }
        }

        public void Dispose()
        {
            using (var stream = Open(typeof(Ledger)) as Stream)
            {
                try { stream!.Close(); }
                catch (Exception error) when (error.Message != null) { throw; }
                finally { GC.SuppressFinalize(this); }
            }
            #region later
            goto done;
            #endregion
        done:
            return;
        }
    }
}
