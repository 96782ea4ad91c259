# frozen_string_literal: true

# Full-text search: FTS5 in SQLite, a column of words in PostgreSQL. Triggers keep them up to date. PostgreSQL's own
# parser would keep addresses, paths and accents whole, so it gets words of letters and digits alone, as MessageSearch
# asks for.
Sequel.migration do
  up do
    case database_type
    when :sqlite
      run "CREATE VIRTUAL TABLE message_words USING fts5(text, content='messages', content_rowid='id', " \
        "tokenize='unicode61 remove_diacritics 2')"
      run "CREATE TRIGGER message_words_insert AFTER INSERT ON messages BEGIN INSERT INTO message_words(rowid, text) " \
        "VALUES (new.id, new.text); END"
      run "CREATE TRIGGER message_words_delete AFTER DELETE ON messages BEGIN INSERT INTO " \
        "message_words(message_words, rowid, text) VALUES ('delete', old.id, old.text); END"
      run <<~SQL
        CREATE TRIGGER message_words_update AFTER UPDATE OF text ON messages BEGIN
          INSERT INTO message_words(message_words, rowid, text) VALUES ('delete', old.id, old.text);
          INSERT INTO message_words(rowid, text) VALUES (new.id, new.text);
        END
      SQL
    when :postgres
      run <<~'SQL'
        ALTER TABLE messages ADD COLUMN words tsvector GENERATED ALWAYS AS
          (to_tsvector('simple', regexp_replace(regexp_replace(normalize(text, NFD), '[\u0300-\u036f]+', '', 'g'), '[!-/:-@[-`{-~]+', ' ', 'g'))) STORED
      SQL
      run "CREATE INDEX messages_words_index ON messages USING gin (words)"
    end
  end

  down do
    case database_type
    when :sqlite
      %w[insert delete update].each { |event| run "DROP TRIGGER message_words_#{event}" }
      run "DROP TABLE message_words"
    when :postgres
      run "ALTER TABLE messages DROP COLUMN words"
    end
  end
end
