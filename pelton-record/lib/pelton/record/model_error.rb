# frozen_string_literal: true

module Pelton
  module Record
    # The root of the errors that models raise. Those of the database are Sequel's: Sequel::UniqueConstraintViolation and its like.
    #
    # Where a client's request is the cause, `web_status` says with which status a web framework answers; Pelton::Web does.
    class Error < Pelton::Error
    end

    # No row matches: of `find`, `find_by!`, `first!` and their like.
    class NotFound < Error
      # @return [Class, nil] the model
      attr_reader :model

      # @return [Integer]
      def web_status = 404

      # @param message [String]
      # @param model [Class, nil]
      def initialize(message = nil, model: nil)
        super(message)
        @model = model
      end
    end

    # An object is not written: a callback has thrown :abort, or the object is not in the database.
    class NotSaved < Error
      # @return [Model, nil]
      attr_reader :record

      # @param record [Model, nil]
      # @param message [String]
      def initialize(record = nil, message = "#{record.class} was not saved: a callback has thrown :abort")
        super(message)
        @record = record
      end
    end

    # The object does not pass its validations.
    class Invalid < NotSaved
      # @param record [Model]
      def initialize(record)
        super(record, "Validation failed: #{record.errors.full_messages.join(", ")}")
      end

      # @return [Integer]
      def web_status = 422

      # @return [String] for the client: what is wrong
      def web_detail = message
    end

    # The object is marked by `readonly!` or was read by `readonly`.
    class ReadOnly < NotSaved
    end

    # Another has changed or deleted the row since this object was loaded (`lock_version`). Reload it and try again.
    class Stale < NotSaved
      # @param record [Model]
      def initialize(record)
        super(record, "#{record.class} #{record.id} was changed or deleted by another since it was loaded: reload it, and try again")
      end

      # @return [true]
      def retriable? = true

      # @return [Integer]
      def web_status = 409
    end

    # A value that no column takes, such as a Hash where a text is expected. It has probably come from outside.
    class BadValue < Error
      # @return [Integer]
      def web_status = 400
    end

    # Mass assignment was refused.
    class Forbidden < Error
      # @return [Integer]
      def web_status = 400
    end

    # A page's cursor was changed, or belongs to another order: {Relation::Paging#keyset}.
    class InvalidCursor < Error
      def initialize(message = "the cursor is no position in this list: begin at the first page") = super

      # @return [Integer] of a web application's answer: 400, a bad request
      def status = 400
    end
  end
end
