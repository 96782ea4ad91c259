# frozen_string_literal: true

class PagesController < ActionController::Base
  skip_forgery_protection

  def meet = render(plain: Barrier.wait("meet", params[:size].to_i))

  # The values that belong to a request, before and after other requests have set theirs.
  def current
    Current.visitor = params[:visitor]
    Time.zone = params[:zone]
    I18n.locale = params[:locale]
    Thread.current[:visitor] = params[:visitor]
    Barrier.wait("current", params[:size].to_i)
    render plain: [Current.visitor, Time.zone.name, I18n.locale, Thread.current[:visitor]].join(" ")
  end

  def version = render(plain: "first")

  def failure = raise("on purpose")

  def pid = render(plain: Process.pid)

  def upload = render(plain: "#{request.raw_post.bytesize} #{params[:file]&.size}")
end
