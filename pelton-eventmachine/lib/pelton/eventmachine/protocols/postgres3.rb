# frozen_string_literal: true

require "digest"
require_relative "postgres3_scram"

module EventMachine
  module Protocols
    # A small client of PostgreSQL, without libpq. Its Deferrables always succeed; their first argument says whether the
    # request succeeded.
    #
    #     EM.run do
    #       db = EM.connect("127.0.0.1", 5432, EM::P::Postgres3)
    #       db.connect("database", "user", "password").callback do |connected, message|
    #         db.query("select 1 as one").callback do |done, result, errors|
    #           p result.fields.map(&:name), result.rows if done # values are text
    #         end
    #       end
    #     end
    #
    # For more, use the gem pg: its calls may wait in callbacks.
    class Postgres3 < Connection
      # rows: Arrays of String and nil; fields: {Field}s; cmd_tag: "SELECT 1".
      Result = Struct.new(:rows, :fields, :cmd_tag)
      # A column of a result, as the server describes it (RowDescription).
      Field = Struct.new(:name, :oid, :attr_nr, :type_oid, :typlen, :atttypmod, :formatcode)

      # An error or a notice of the server.
      class Complaint
        # @return [Hash{String => String}] the protocol's fields: "M" is the message, "C" the SQLSTATE, "S" the severity
        attr_reader :fields

        # @private
        def initialize(bytes)
          @fields = bytes.split("\0").to_h { |field| [field[0], field[1..]] }
        end

        # @return [String]
        def to_s = "#{fields["S"]}: #{fields["M"]}"
      end

      PROTOCOL = 3 << 16
      private_constant :PROTOCOL

      def initialize
        super
        @pg_buffer = "".b
        @pg_queries = []
      end

      # Logs in.
      #
      # @return [DefaultDeferrable] succeeds with true, or with false and a message
      # @raise [ArgumentError] when a name contains a NUL byte
      def connect(database, user, password = nil)
        parameters = ["user", user, "database", database].map(&:to_s)
        raise ArgumentError, "a name contains a NUL byte" if parameters.any? { |text| text.include?("\0") }
        @pg_user, @pg_password = user.to_s, password.to_s
        packet = [PROTOCOL, *parameters, ""].pack("NZ*Z*Z*Z*Z*")
        send_data([packet.bytesize + 4].pack("N") << packet)
        @pg_login = DefaultDeferrable.new
      end

      # Sends a query. Queries are sent one after the other.
      #
      # @param sql [String] one statement or several; the result has the rows of all
      # @return [DefaultDeferrable] succeeds with true, a {Result} and the notices; or with false, the part of the
      #   result that has arrived, and the errors
      # @raise [ArgumentError] when the text contains a NUL byte
      def query(sql)
        raise ArgumentError, "a statement contains a NUL byte" if sql.include?("\0")
        DefaultDeferrable.new.tap do |answer|
          @pg_queries << [sql, answer]
          send_query if @pg_ready && !@pg_busy
        end
      end

      # @private
      def receive_data(data)
        @pg_buffer << data
        while @pg_buffer.bytesize >= 5
          type, size = @pg_buffer.unpack("aN")
          return close_connection if size < 4
          break if @pg_buffer.bytesize <= size
          body = @pg_buffer.byteslice(5, size - 4)
          @pg_buffer = @pg_buffer.byteslice((size + 1)..)
          receive_message(type, body)
        end
      end

      # @private
      def unbind(*)
        @pg_ready = false
        login, @pg_login = @pg_login, nil
        login&.succeed(false, "lost connection")
        @pg_queries.shift.last.succeed(false, "lost connection") until @pg_queries.empty?
      end

      private

      def send_message(type, body) = send_data([type, body.bytesize + 4].pack("aN") << body)

      def send_query
        @pg_busy = true
        @pg_result, @pg_errors, @pg_notices = Result.new([], []), [], []
        send_message("Q", "#{@pg_queries.first.first}\0".b)
      end

      def receive_message(type, body)
        case type
        when "R" then authenticate(body)
        when "Z" then become_ready
        when "E" then complain(Complaint.new(body))
        when "N" then @pg_notices&.push(Complaint.new(body))
        when "T" then @pg_result&.fields = fields(body)
        when "D" then @pg_result&.rows&.push(row(body))
        when "C" then @pg_result&.cmd_tag = body.delete_suffix("\0")
        when "G" then send_message("f", "COPY takes a client that can\0") # the server would wait for data for ever
        end
      end

      def authenticate(body)
        case body.unpack1("N")
        when 0 then nil
        when 3 then send_message("p", "#{@pg_password}\0".b)
        when 5 then send_message("p", "#{md5(body.byteslice(4, 4))}\0")
        when 10, 11, 12 then authenticate_by_scram(body)
        else refuse_login("the server asks for an unknown method of authentication")
        end
      end

      def md5(salt)
        inner = Digest::MD5.hexdigest(@pg_password + @pg_user)
        "md5#{Digest::MD5.hexdigest(inner.b + salt)}"
      end

      def authenticate_by_scram(body)
        @pg_scram ||= Postgres3Scram.new(@pg_password)
        case body.unpack1("N")
        when 10 then send_message("p", [Postgres3Scram::NAME, @pg_scram.first.bytesize, @pg_scram.first].pack("Z*Na*"))
        when 11 then send_message("p", @pg_scram.final(body.byteslice(4..)))
        else refuse_login("the server did not prove that it knows the password") unless @pg_scram.proved?(
          body.byteslice(4..)
        )
        end
      rescue Postgres3Scram::Wrong => error
        refuse_login(error.message)
      end

      def become_ready
        @pg_ready = true
        @pg_busy = false
        login, @pg_login = @pg_login, nil
        login ? login.succeed(true) : answer_query
        send_query unless @pg_busy || @pg_queries.empty?
      end

      def answer_query
        _, answer = @pg_queries.shift
        done = @pg_errors.empty?
        answer&.succeed(done, @pg_result, done ? @pg_notices : @pg_errors)
      end

      def complain(complaint) = @pg_login ? refuse_login(complaint.to_s) : @pg_errors&.push(complaint)

      def refuse_login(message)
        login, @pg_login = @pg_login, nil
        close_connection
        login&.succeed(false, message)
      end

      def fields(body)
        count, rest = body.unpack("na*")
        Array.new(count) do
          *field, rest = rest.unpack("Z*NnNs>l>na*")
          Field.new(*field)
        end
      end

      def row(body)
        count, at = body.unpack1("n"), 2
        Array.new(count) do
          size = body.byteslice(at, 4).unpack1("l>")
          at += 4
          next if size == -1
          body.byteslice(at, size).tap { at += size }.force_encoding(Encoding::UTF_8)
        end
      end
    end
  end
end
