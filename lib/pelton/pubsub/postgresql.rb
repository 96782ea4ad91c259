# frozen_string_literal: true

require "pg"
require "timeout"
require_relative "carrier"

module Pelton
  class PubSub
    # Topics that several machines have in common, by a table of PostgreSQL and NOTIFY, which says that there is
    # something to read: so a message may be longer than NOTIFY's 8,000 bytes, and one that came while the connection
    # was cut is read afterwards.
    #
    # @see https://www.postgresql.org/docs/current/sql-notify.html
    # @private
    class PostgreSQL < Carrier
      NAME = "PostgreSQL"

      # Tables that are not written to the log of PostgreSQL: they are empty after a crash of the server, which begins a
      # new epoch. The row of pelton_pubsub_state is locked until the transaction ends, so messages are visible in the
      # order of their ids. An offset goes on from the topic's last one; a topic that is not known, or was forgotten,
      # begins beyond all that were given out.
      SCHEMA = <<~SQL
        CREATE UNLOGGED TABLE IF NOT EXISTS pelton_pubsub_state (
          one boolean PRIMARY KEY DEFAULT true CHECK (one), epoch text NOT NULL, count bigint NOT NULL);
        CREATE UNLOGGED TABLE IF NOT EXISTS pelton_pubsub_messages (
          id bigserial PRIMARY KEY, epoch text NOT NULL, topic bytea, position bigint NOT NULL, body bytea NOT NULL);
        CREATE INDEX IF NOT EXISTS pelton_pubsub_topics ON pelton_pubsub_messages (topic, id) WHERE topic IS NOT NULL;
        CREATE UNLOGGED TABLE IF NOT EXISTS pelton_pubsub_publishers (
          publisher text PRIMARY KEY, number bigint NOT NULL, seen timestamptz NOT NULL);
        CREATE OR REPLACE FUNCTION pelton_pubsub_publish(
          fresh text, publisher_id text, first bigint, topics bytea[], bodies bytea[])
        RETURNS void LANGUAGE plpgsql AS $$
          DECLARE
            number bigint := first;
            given bigint;
            life text;
            total bigint;
            last bigint;
          BEGIN
            INSERT INTO pelton_pubsub_state (epoch, count) VALUES (fresh, 0) ON CONFLICT DO NOTHING;
            SELECT epoch, count INTO life, total FROM pelton_pubsub_state FOR UPDATE;
            SELECT p.number INTO given FROM pelton_pubsub_publishers p WHERE publisher = publisher_id;
            FOR i IN 1 .. array_length(bodies, 1) LOOP
              IF given IS NULL OR number > given THEN
                last := 0;
                IF topics[i] IS NOT NULL THEN
                  total := total + 1;
                  SELECT position + 1 INTO last FROM pelton_pubsub_messages
                    WHERE topic = topics[i] ORDER BY id DESC LIMIT 1;
                  last := coalesce(last, total);
                END IF;
                INSERT INTO pelton_pubsub_messages (epoch, topic, position, body)
                  VALUES (life, topics[i], last, bodies[i]);
              END IF;
              number := number + 1;
            END LOOP;
            UPDATE pelton_pubsub_state SET count = total;
            INSERT INTO pelton_pubsub_publishers VALUES (publisher_id, number - 1, now())
              ON CONFLICT (publisher) DO UPDATE SET number = excluded.number, seen = excluded.seen;
            PERFORM pg_notify('pelton_pubsub', '');
          END
        $$
      SQL
      # The lock of {SCHEMA}: two that make the same table at once would fail.
      LOCK = 7_035_866_002
      # Messages after which the oldest are deleted.
      TRIM = 1_000
      ARRAY = PG::TextEncoder::Array.new
      private_constant :SCHEMA, :LOCK, :TRIM, :ARRAY

      def self.errors = [PG::Error, ConnectionError, ClosedError, Pelton::TimeoutError, SystemCallError]

      private

      def open
        PG.connect(@url, connect_timeout: [@timeout, 2].max.ceil, application_name: "pelton pubsub").tap do |connection|
          connection.set_notice_processor { nil }
          ask(connection, "SET synchronous_commit = off")
        end
      end

      def send_batch(connection, sequence, batch)
        create(connection)
        topics, bodies = batch.transpose.map do |list|
          ARRAY.encode(list.map { |bytes| bytes && "\\x#{bytes.unpack1("H*")}" })
        end
        ask(connection, "SELECT pelton_pubsub_publish($1, $2, $3, $4::bytea[], $5::bytea[])",
          SecureRandom.alphanumeric(8), @publisher, sequence, topics, bodies)
        trim(connection, batch.size)
      end

      def create(connection)
        return if @created
        ask(connection, "SELECT pg_advisory_lock(#{LOCK})")
        ask(connection, SCHEMA)
        ask(connection, "SELECT pg_advisory_unlock(#{LOCK})")
        @created = true
      end

      def trim(connection, added)
        @added = (@added || 0) + added
        return if @added < TRIM
        @added = 0
        ask(connection,
          "DELETE FROM pelton_pubsub_messages WHERE id <= (SELECT max(id) FROM pelton_pubsub_messages) - #{LOG}")
        ask(connection, "DELETE FROM pelton_pubsub_publishers WHERE seen < now() - interval '1 hour'")
      end

      # @return [Array(String, Integer)] the epoch, and the first message's id; nil: there is none
      def start(connection)
        create(connection)
        ask(connection, "LISTEN pelton_pubsub")
        ((epoch, first)) =
          ask(connection,
            "SELECT (SELECT epoch FROM pelton_pubsub_state), (SELECT min(id) FROM pelton_pubsub_messages)")
        [epoch.to_s, first&.to_i]
      end

      # @param wait [Numeric, nil] seconds for the first message
      # @return [Array<Array(Integer, String, String, String)>] id, epoch, offset and body of each
      def read(connection, last, wait)
        rows = page(connection, last)
        return rows if rows.any? || !wait
        connection.wait_for_notify(wait)
        page(connection, last)
      end

      def page(connection, last)
        ask(connection,
          "SELECT id, epoch, position, body FROM pelton_pubsub_messages WHERE id > $1 ORDER BY id LIMIT #{PAGE}",
          last || 0)
          .map { |id, epoch, offset, body| [id.to_i, epoch, offset, PG::Connection.unescape_bytea(body)] }
      end

      # A server that is frozen, or a network that is cut, gives no answer at all.
      def ask(connection, statement, *values)
        Timeout.timeout(@timeout, Pelton::TimeoutError, "no answer in #{@timeout} s") do
          values.empty? ? connection.exec(statement).values : connection.exec_params(statement, values).values
        end
      end
    end
  end
end
