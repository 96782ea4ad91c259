# frozen_string_literal: true

require "json"
require "rack"
require_relative "../request/accept"
require_relative "../settings"

module Pelton
  module Web
    # A response about an error: a problem document (RFC 9457) for clients that prefer JSON to HTML, a small page for
    # browsers, plain text for all others.
    class Problem
      include Opaque

      attr_reader :status

      # @return [String, nil] a message for the user
      attr_reader :detail

      # @param status [Integer]
      # @param detail [String, nil] one or two sentences for the user
      # @param members [Hash] further members of the problem document, such as `errors`
      # @param headers [Hash{String => String}] of the response
      def initialize(status, detail: nil, members: {}, headers: {})
        @status = status
        @detail = detail
        @members = members
        @headers = headers
      end

      # The status of a program's error comes from `settings.errors` or its method `web_status`. Its message is for the
      # program's author; the client gets `web_detail`, if the error has it.
      #
      # @param error [StandardError] a {RequestError}, or any other
      # @param settings [Settings, nil] the application's
      # @return [Problem, nil] nil for an error that is not the client's
      def self.of(error, settings = nil)
        if error.is_a?(RequestError)
          return new(error.status, detail: error.message, members: error.members, headers: error.headers)
        end
        status = Settings.status_of(error, settings) || (error.web_status if error.respond_to?(:web_status)) or return
        return new(status, detail: error.web_detail) if error.respond_to?(:web_detail)
        invalid = messages(error)
        return new(status) unless status == 422 && invalid
        new(status, detail: invalid.full_messages.join(", "),
          members: {errors: invalid.to_hash.flat_map do |name, details|
            Array(details).map { |detail| {name: name, detail: detail} }
          end})
      end

      # What validations have found, as Sequel's and ActiveModel's errors have it: the client's, as {Params::Invalid}
      # is.
      def self.messages(error)
        model = %i[record model].find { |name| error.respond_to?(name) }
        found = error.respond_to?(:errors) ? error.errors : model && error.public_send(model)
        found = found.errors if found.respond_to?(:errors)
        found if found.respond_to?(:full_messages) && found.respond_to?(:to_hash)
      end
      private_class_method :messages

      # @return [String] the status's name
      def title = Rack::Utils::HTTP_STATUS_CODES.fetch(@status, "Error")

      # @param env [Hash] Rack's
      # @return [Array(Integer, Hash, Array<String>)] Rack's response
      def response(env)
        type, body = document(env["HTTP_ACCEPT"])
        headers = {"content-type" => type, "content-length" => body.bytesize.to_s,
                   "cache-control" => "no-store"}.merge!(@headers)
        [@status, headers, (env["REQUEST_METHOD"] == "HEAD") ? [] : [body]]
      end

      private

      def document(accept)
        case Accept.best(accept, ["text/plain", "text/html", "application/json", "application/problem+json"])
        when "application/json", "application/problem+json" then ["application/problem+json", JSON.generate(to_h)]
        when "text/html" then ["text/html; charset=utf-8", page]
        else ["text/plain; charset=utf-8", "#{[title, @detail].compact.join(": ")}\n"]
        end
      end

      def to_h = {title: title, status: @status, detail: @detail}.compact.merge(@members)

      def page
        heading, text = [title, @detail.to_s].map { |words| Rack::Utils.escape_html(words) }
        "<!DOCTYPE html>\n<html lang=\"en\"><head><meta charset=\"utf-8\"><title>#{heading}</title></head><body>" \
        "<h1>#{heading}</h1><p>#{text}</p></body></html>\n"
      end
    end

    class Settings
      # Sequel's and ActiveRecord's errors with a status, by name: neither need be loaded.
      ERRORS = {
        "Sequel::NoMatchingRow" => 404, "Sequel::ValidationFailed" => 422, "Sequel::NoExistingObject" => 409,
        "Sequel::MassAssignmentRestriction" => 400,
        "Sequel::InvalidValue" => 400,
        "ActiveRecord::RecordNotFound" => 404, "ActiveRecord::RecordInvalid" => 422,
        "ActiveRecord::StaleObjectError" => 409,
        "ActiveModel::ValidationError" => 422, "ActiveModel::ForbiddenAttributesError" => 400
      }.freeze

      # @!attribute errors
      #   @return [Hash{Class, String => Integer}] statuses for errors of actions, by class or class name, in addition
      #     to {ERRORS}: `{"Sequel::UniqueConstraintViolation" => 409}`. Errors with a method `web_status` need no entry
      setting(:errors, {}.freeze) do |value|
        right = value.is_a?(Hash) && value.all? do |error, status|
          [Module, String].any? { |type| error.is_a?(type) } && status.is_a?(Integer) && status.between?(400, 499)
        end
        "must be a Hash of classes, or their names, and statuses from 400 to 499" unless right
      end

      # @private
      # @param settings [Settings, nil] whose `errors` count, too
      # @return [Integer, nil] the status of the closest ancestor of the error's class
      def self.status_of(error, settings = nil)
        all = settings ? ERRORS.merge(settings.errors) : ERRORS
        error.class.ancestors.each { |type| all.fetch(type) { all[type.name] }&.then { |status| return status } }
        nil
      end
    end
  end
end
